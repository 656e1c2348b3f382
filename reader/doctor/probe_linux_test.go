package doctor_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/freehold-dev/freehold/reader/doctor"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"golang.org/x/sys/unix"
)

// codesOf returns the codes of the findings of the state in dir.
func codesOf(t *testing.T, dir string) map[string]bool {
	t.Helper()
	report, err := doctor.Examine(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, f := range report.Findings {
		produced.Store(f.Code, true)
		found[f.Code] = true
	}
	return found
}

// Doctor tries what a commit needs, so that a full or read-only file system is
// found before the next commit fails.
func TestAFullOrReadOnlyFileSystemIsFound(t *testing.T) {
	at := t.TempDir()
	if err := unix.Mount("tmpfs", at, "tmpfs", 0, "size=256k"); err != nil {
		t.Skipf("no right to mount: %v", err)
	}
	defer unix.Unmount(at, unix.MNT_DETACH)
	dir := filepath.Join(at, "state")
	if err := sidecar.Create(dir, declaration()); err != nil {
		t.Fatal(err)
	}
	if found := codesOf(t, dir); len(found) > 0 {
		t.Fatalf("a new state has %v", found)
	}
	hog, err := os.Create(filepath.Join(at, "hog"))
	if err != nil {
		t.Fatal(err)
	}
	for block := make([]byte, 4096); err == nil; {
		_, err = hog.Write(block)
	}
	hog.Close()
	if found := codesOf(t, dir); !found["full"] {
		t.Errorf("on a full file system: %v", found)
	}
	if err := os.Remove(hog.Name()); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("tmpfs", at, "tmpfs", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	if found := codesOf(t, dir); !found["not-writable"] {
		t.Errorf("on a read-only file system: %v", found)
	}
}

// A running process that keeps an owner's lock is named.
func TestALockThatIsHeldForLongIsFound(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	if err := sidecar.Create(dir, declaration()); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(filepath.Join(dir, ".freehold", "cost.lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	if found := codesOf(t, dir); !found["lock-held"] {
		t.Errorf("found %v", found)
	}
}

// A sidecar that no commit can replace, and a directory where none can be renamed, is
// found before the next commit fails, and the remedy cures.
func TestARenameThatWouldFailIsFound(t *testing.T) {
	for _, place := range []string{"cost.json", "."} {
		for _, attribute := range []string{"i", "a"} {
			t.Run(place+attribute, func(t *testing.T) {
				dir := newState(t)
				path := filepath.Join(dir, place)
				if out, err := exec.Command("chattr", "+"+attribute, path).CombinedOutput(); err != nil {
					t.Skipf("no right to set attributes: %s", out)
				}
				t.Cleanup(func() { exec.Command("chattr", "-"+attribute, path).Run() })
				if found := codesOf(t, dir); !found["not-writable"] {
					t.Errorf("found %v", found)
				}
				cure(t, dir, nil)
				commit(t, dir, "cost", sidecar.Op{Field: "count", Verb: schema.VerbAdd, Value: []byte("1")})
			})
		}
	}
}
