package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/reader/statetest"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// mount mounts a file system for the test.
func mount(t *testing.T, source, target, kind string, flags uintptr, options string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root to mount")
	}
	if err := unix.Mount(source, target, kind, flags, options); err != nil {
		t.Fatalf("mount %s at %s: %v", source, target, err)
	}
	t.Cleanup(func() { unix.Unmount(target, unix.MNT_DETACH) })
}

// fill takes up all the space, or all the files, that are left in dir.
func fill(dir string) (filler string, err error) {
	filler = filepath.Join(dir, "filler")
	if err := os.Mkdir(filler, 0o700); err != nil {
		return "", err
	}
	for i := 0; ; i++ {
		name := filepath.Join(filler, strings.Repeat("i", 1+i%200)+strings.Repeat("j", i/200))
		switch err := os.WriteFile(name, make([]byte, 4096), 0o600); {
		case errors.Is(err, unix.ENOSPC):
			return filler, nil
		case err != nil:
			return "", err
		}
	}
}

// Case 95: on a full disk nothing changes, nothing is left, and once there is
// space again the next commit works.
func TestAFullDiskLosesNothing(t *testing.T) {
	for name, options := range map[string]string{"no space": "size=512k,mode=700", "no inodes": "nr_inodes=40,mode=700"} {
		t.Run(name, func(t *testing.T) {
			disk := t.TempDir()
			mount(t, "tmpfs", disk, "tmpfs", 0, options)
			dir := filepath.Join(disk, "state")
			makeState(t, dir)
			must(t, "set", "reset", "name=small", "f=1", "--dir", dir)
			filler, err := fill(disk)
			if err != nil {
				t.Fatal(err)
			}
			before := listing(t, dir)[1:] // in the directory itself a file came and went
			big := "name=" + strings.Repeat("x", 50_000)
			for range 20 {
				got := call(t, "", "set", "reset", big, "--dir", dir)
				if got.Status != failure.ExitIO || got.Stdout != "" || !strings.Contains(got.Stderr, "free some space") {
					t.Fatalf("%+v", got)
				}
			}
			if diff := cmp.Diff(before, listing(t, dir)[1:]); diff != "" {
				t.Errorf("a commit that had no space changed something (-before +after):\n%s", diff)
			}
			if got := must(t, "get", "f", "--dir", dir); got != "1\n" {
				t.Errorf("f is %q", got)
			}
			if err := os.RemoveAll(filler); err != nil {
				t.Fatal(err)
			}
			must(t, "set", "reset", big, "--dir", dir)
		})
	}
}

// A write that the kernel cuts short, as at a limit on file sizes, is seen: the
// rest then fails, and the signal that comes with it ends no process.
func TestAShortWriteLosesNothing(t *testing.T) {
	dir := freshState(t)
	must(t, "set", "reset", "name=small", "--dir", dir)
	before := listing(t, dir)[1:] // in the directory itself a file came and went
	cmd := exec.Command("prlimit", "--fsize=300", commandFor(t, dir), "set", "reset", "name="+strings.Repeat("x", 2000), "--dir", dir)
	out, err := cmd.CombinedOutput()
	if status := cmd.ProcessState.ExitCode(); status != failure.ExitIO || !strings.Contains(string(out), "ulimit -f") {
		t.Errorf("status %d (%v): %s", status, err, out)
	}
	if diff := cmp.Diff(before, listing(t, dir)[1:]); diff != "" {
		t.Errorf("it changed something (-before +after):\n%s", diff)
	}
}

// readOnlyCalls are calls that a state without write permission answers or refuses.
var readOnlyCalls = []struct {
	args   []string
	status int
}{
	{[]string{"view"}, failure.ExitDone},
	{[]string{"get", "f"}, failure.ExitDone},
	{[]string{"explain", "f"}, failure.ExitDone},
	{[]string{"set", "reset", "f=1"}, failure.ExitDone}, // it has the value
	{[]string{"set", "reset", "f=2"}, failure.ExitIO},
	{[]string{"set", "watchdog", "patience=2s"}, failure.ExitIO},
	{[]string{"accept", "reset"}, failure.ExitDone}, // it is as it should be
	{[]string{"quarantine", "reset"}, failure.ExitIO},
}

func TestAReadOnlyStateIsReadAndNotWritten(t *testing.T) {
	says := func(t *testing.T, args []string, got result, status int, advice string) {
		t.Helper()
		if got.Status != status || status == failure.ExitIO && !strings.Contains(got.Stderr, advice) {
			t.Errorf("%q: %+v, want status %d and %q", args, got, status, advice)
		}
	}
	t.Run("mounted so", func(t *testing.T) {
		dir := freshState(t)
		statetest.Damaged(dir, "directory-unsafe")
		must(t, "set", "reset", "f=1", "--dir", dir)
		mount(t, dir, dir, "", unix.MS_BIND, "")
		if err := unix.Mount("", dir, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
			t.Fatal(err)
		}
		before := listing(t, dir)
		for _, c := range readOnlyCalls {
			if c.args[0] == "set" && c.status == failure.ExitDone {
				continue // to be durable it is synced, which root may do
			}
			says(t, c.args, call(t, "", append(c.args, "--dir", dir)...), c.status, "mount the file system read-write")
		}
		if diff := cmp.Diff(before, listing(t, dir)); diff != "" {
			t.Errorf("something changed (-before +after):\n%s", diff)
		}
	})
	t.Run("by its mode", func(t *testing.T) {
		program, dir := nobodysState(t)
		if got := asNobody(t, program, "set", "reset", "f=1", "--dir", dir); got.Status != failure.ExitDone {
			t.Fatal(got)
		}
		for _, path := range []string{dir, filepath.Join(dir, ".freehold")} {
			if err := os.Chmod(path, 0o500); err != nil {
				t.Fatal(err)
			}
		}
		before := listing(t, dir)
		for _, c := range readOnlyCalls {
			says(t, c.args, asNobody(t, program, append(c.args, "--dir", dir)...), c.status, "right to write")
		}
		if diff := cmp.Diff(before, listing(t, dir)); diff != "" {
			t.Errorf("something changed (-before +after):\n%s", diff)
		}
	})
}

// Root's `init` in another user's module leaves everything that user's, and one
// that is refused leaves nothing.
func TestInitLeavesNothingOfRoots(t *testing.T) {
	module := t.TempDir()
	mount(t, "tmpfs", module, "tmpfs", 0, "nr_inodes=7,mode=755")
	if err := errors.Join(os.WriteFile(filepath.Join(module, "go.mod"), []byte("module m\n\ngo 1.26\n"), 0o600), os.Chown(module, 1234, 4321)); err != nil {
		t.Fatal(err)
	}
	t.Chdir(module)
	if got := call(t, "", "init", "a/b/c/d"); got.Status != failure.ExitIO { // one file too many
		t.Errorf("%+v", got)
	}
	if entries, err := os.ReadDir(module); err != nil || len(entries) != 1 {
		t.Errorf("it left %v (%v)", entries, err)
	}
	must(t, "init", "a/b")
	for _, name := range []string{"a", "a/b", "a/b/owners.yaml", "a/b/generate.go"} {
		var st unix.Stat_t
		if err := unix.Stat(name, &st); err != nil || st.Uid != 1234 || st.Gid != 4321 {
			t.Errorf("%s belongs to %d:%d (%v)", name, st.Uid, st.Gid, err)
		}
	}
}
