package sidecar

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// Another user can neither hold a lock, and so block everybody, nor look.
func TestStrangerCannotTouchALock(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root to become another user")
	}
	dir := newState(t)
	for parent := dir; parent != "/tmp" && parent != "/"; parent = filepath.Dir(parent) {
		if parent != dir {
			os.Chmod(parent, 0o755)
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil { // even if the directory may be looked into
		t.Fatal(err)
	}
	for _, name := range []string{"watchdog.lock", "watchdog.lease", "watchdog.fence"} {
		err := asStranger(func() error {
			fd, err := unix.Open(metaPath(dir, name), unix.O_RDONLY, 0)
			if err == nil {
				unix.Close(fd)
			}
			return err
		})
		if err != unix.EACCES {
			t.Errorf("%s: a stranger got %v", name, err)
		}
	}
	mustOpen(t, dir)
}

// Case 144: a commit needs no right to write above the state.
func TestCommitWritesNothingAboveTheState(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root to become another user")
	}
	dir := newState(t)
	Damaged(dir, "directory-unsafe")
	for parent := filepath.Dir(dir); parent != "/tmp" && parent != "/"; parent = filepath.Dir(parent) {
		os.Chmod(parent, 0o555)
		defer os.Chmod(parent, 0o755)
	}
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chown(path, 65534, 65534)
	})
	if err != nil {
		t.Fatal(err)
	}
	err = asStranger(func() error {
		w, err := Open(t.Context(), dir, declaration(), "cost", nil)
		if err != nil {
			return err
		}
		_, err = w.Update(t.Context(), addTurns(1))
		return errors.Join(err, w.Close())
	})
	if err != nil {
		t.Error(err)
	}
	if info := stat(t, sidecarPath(dir, "cost")); info.Mode().Perm() != 0o600 || info.Sys().(*syscall.Stat_t).Uid != 65534 {
		t.Errorf("the sidecar has the mode %v", info.Mode())
	}
}

// asStranger calls fn in a thread that runs as user 65534, and ends the thread.
func asStranger(fn func() error) error {
	result := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		if _, _, errno := syscall.RawSyscall(syscall.SYS_SETRESUID, 65534, 65534, 65534); errno != 0 {
			result <- errno
			return
		}
		result <- fn()
	}()
	return <-result
}
