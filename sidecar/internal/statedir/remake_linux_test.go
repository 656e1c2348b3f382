package statedir

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// The inode number of a lost lock file is soon that of another file. The
// holder of that one does not hold the lost lock.
func TestHolderOfAnotherFileHoldsNoLostLock(t *testing.T) {
	const lost = "cost.lock"
	for name, test := range map[string]struct {
		open    func(dir string) (int, error)
		another bool
	}{
		"a directory": {func(dir string) (int, error) { return unix.Open(dir, unix.O_RDONLY, 0) }, true},
		"a patch": {func(dir string) (int, error) {
			return unix.Open(filepath.Join(dir, "x.1.json"), unix.O_CREAT|unix.O_RDWR, 0o600)
		}, true},
		"a draft":      {func(dir string) (int, error) { return deleted(filepath.Join(dir, ".draft")) }, true},
		"the lost one": {func(dir string) (int, error) { return deleted(filepath.Join(dir, lost)) }, false},
		"one that was moved": {func(dir string) (int, error) {
			return unix.Open(filepath.Join(dir, lost+".bak"), unix.O_CREAT|unix.O_RDWR, 0o600)
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			fd, err := test.open(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			defer unix.Close(fd)
			var st unix.Stat_t
			if err := unix.Fstat(fd, &st); err != nil {
				t.Fatal(err)
			}
			if got := holdsForAnother(os.Getpid(), &st, lost, "state"); got != test.another {
				t.Errorf("it is said to be another file: %v, want %v", got, test.another)
			}
			st.Dev++
			if holdsForAnother(os.Getpid(), &st, lost, "state") {
				t.Error("a file on another device was taken for it")
			}
		})
	}
}

// deleted opens a new file, and removes its name.
func deleted(path string) (int, error) {
	fd, err := unix.Open(path, unix.O_CREAT|unix.O_RDWR, 0o600)
	if err != nil {
		return fd, err
	}
	return fd, os.Remove(path)
}
