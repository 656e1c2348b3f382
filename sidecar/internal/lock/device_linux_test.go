package lock

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/freehold-dev/freehold/sidecar/internal/status"
	"golang.org/x/sys/unix"
)

// mount mounts a file system in memory at path until the test ends.
func mount(t *testing.T, path string) {
	t.Helper()
	if err := unix.Mount("tmpfs", path, "tmpfs", 0, "mode=700"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Unmount(path, unix.MNT_DETACH) })
}

// The lock file of a file system that is mounted over the state's is another
// one, also if it has the same inode number, as in a copy in memory.
func TestTheSameInodeNumberOnAnotherDeviceIsAnotherLock(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root to mount")
	}
	disk := t.TempDir()
	mount(t, disk)
	l := openerIn(t, disk)()
	mount(t, filepath.Join(disk, "meta"))
	var st unix.Stat_t
	for n := 0; st.Ino != l.ino; n++ {
		path := filepath.Join(disk, "meta", fmt.Sprint(n))
		err := os.WriteFile(path, nil, 0o600)
		if err == nil {
			err = unix.Stat(path, &st)
		}
		if err == nil && st.Ino == l.ino {
			err = os.Rename(path, filepath.Join(disk, "meta/lock"))
		}
		if err != nil || n > 1000 {
			t.Fatalf("inode %d after %d files, want inode %d (%v)", st.Ino, n, l.ino, err)
		}
	}
	wantError(t, l.Held(), status.Lost)
}
