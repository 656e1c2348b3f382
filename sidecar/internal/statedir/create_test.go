package statedir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/freehold-dev/freehold/sidecar/internal/status"
	"golang.org/x/sys/unix"
)

func TestOpenRefusesWhenOthersMayWriteInFreehold(t *testing.T) {
	d := newState(t)
	if err := os.Chmod(filepath.Join(d.Path(), metaName), 0o770); err != nil {
		t.Fatal(err)
	}
	_, err := Open(d.Path())
	wantError(t, err, status.Unsafe, metaName, "chmod go-w")
}

func TestCreateMakesAUsableDirectoryUnderEveryUmask(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b", "state")
	old := unix.Umask(0o777)
	err := Create(dir, declaration())
	unix.Umask(old)
	if err != nil {
		t.Fatal(err)
	}
	for path := dir; filepath.Base(path) != "001"; path = filepath.Dir(path) {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if mode := info.Mode().Perm(); mode != 0o700 {
			t.Errorf("%s has mode %04o", path, mode)
		}
	}
}

// Directories that are made later in .freehold are this user's alone too, and
// usable.
func TestLaterDirectoriesArePrivateUnderEveryUmask(t *testing.T) {
	d := newState(t)
	old := unix.Umask(0o777)
	id := process.NewNonce()
	_, err := d.Quarantine().Reject("patch", []byte("{}"), "no reason")
	err = errors.Join(err, d.Staged(id).Write(map[string][]byte{"cost.json": []byte("{}")}))
	unix.Umask(old)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{quarantineName, upgradePrefix + id} {
		info, err := os.Stat(filepath.Join(d.Path(), metaName, name))
		if err != nil {
			t.Fatal(err)
		}
		if mode := info.Mode().Perm(); mode != 0o700 {
			t.Errorf("%s has mode %04o", name, mode)
		}
	}
}

func TestCreateMakesPrivateFilesUnderEveryUmask(t *testing.T) {
	for _, umask := range []int{0o000, 0o022, 0o077, 0o277} {
		dir := filepath.Join(t.TempDir(), "state")
		old := unix.Umask(umask)
		err := os.Mkdir(dir, 0o700)
		if err == nil {
			err = errors.Join(os.Chmod(dir, 0o700), Create(dir, declaration()))
		}
		unix.Umask(old)
		if err != nil {
			t.Fatalf("umask %03o: %v", umask, err)
		}
		filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil {
				t.Fatal(err)
			}
			info, err := e.Info()
			if err != nil {
				t.Fatal(err)
			}
			want := fs.FileMode(0o600)
			if e.IsDir() {
				want = 0o700
			}
			if got := info.Mode().Perm(); got != want {
				t.Errorf("umask %03o: %s has mode %04o, want %04o", umask, path, got, want)
			}
			return nil
		})
	}
}

// A refused Create leaves no directory that it has made.
func TestARefusedCreateLeavesNothing(t *testing.T) {
	above := t.TempDir()
	open := filepath.Join(above, "open")
	if err := errors.Join(os.Mkdir(open, 0o777), os.Chmod(open, 0o777)); err != nil {
		t.Fatal(err)
	}
	paths := []string{filepath.Join(open, "a", "b")}
	if os.Geteuid() == 0 {
		home := filepath.Join(above, "home")
		if err := errors.Join(os.Mkdir(home, 0o755), os.Chown(home, 1234, 4321)); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, filepath.Join(home, "a", "b"))
	}
	for _, path := range paths {
		err := Create(path, declaration())
		wantError(t, err, status.Unsafe)
		if _, err := os.Lstat(filepath.Dir(path)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left: %v", filepath.Dir(path), err)
		}
	}
}

// One whole instance makes a directory one that holds instances, among whatever else;
// a directory with the name of an instance and no state in it does not.
func TestOneWholeInstanceIsEnough(t *testing.T) {
	dir := t.TempDir()
	name, err := schema.InstanceDir("ended")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, name, metaName), 0o700); err != nil {
		t.Fatal(err)
	}
	if HoldsInstances(dir) || HoldsInstances(filepath.Join(dir, "nowhere")) {
		t.Error("an instance was found where none is")
	}
	d := declaration()
	d.Instances = schema.Instances{By: "session_id"}
	if err := CreateInstance(dir, "whole", d); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, metaName)); err != nil { // the record
		t.Fatal(err)
	}
	if !HoldsInstances(dir) {
		t.Error("a whole instance was not found")
	}
}
