package store

import (
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
)

// A file that is moved out of the directory while it is opened, as an upgrade
// does with what it has staged, is no mount.
func TestAFileThatIsMovedAwayIsNoMount(t *testing.T) {
	dir := t.TempDir()
	below := filepath.Join(dir, "meta")
	staged, installed := filepath.Join(below, "upgrade", "a.json"), filepath.Join(dir, "a.json")
	if err := errors.Join(os.MkdirAll(filepath.Dir(staged), 0o700), os.WriteFile(installed, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	f, err := openFolder(below)
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	var over atomic.Bool
	moved := make(chan int)
	go func() {
		n := 0
		for ; !over.Load(); n++ {
			if err := errors.Join(os.Rename(installed, staged), os.Rename(staged, installed)); err != nil {
				t.Error(err)
				break
			}
		}
		moved <- n
	}()
	found := 0
	for range 100_000 {
		switch fd, err := f.openQuietly("upgrade/a.json"); {
		case err == nil:
			found++
			unix.Close(fd)
		case err != unix.ENOENT:
			t.Fatalf("%v after %d times at which it was there", err, found)
		}
	}
	over.Store(true)
	if n := <-moved; n == 0 || found == 0 {
		t.Errorf("it was moved %d times, and there %d times", n, found)
	}
}
