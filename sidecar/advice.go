package sidecar

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// advice is, by the error of the operating system, the advice to the user.
var advice = []struct {
	err  syscall.Errno
	todo string
}{
	{syscall.EROFS, "the file system is mounted read-only: readers work, and to write, mount it read-write"},
	{syscall.EACCES, "give this user the right to write in the state directory (chmod u+w, chown), or run as the user who has it"},
	{syscall.EPERM, "look whether the directory or file is immutable (lsattr) or a sandbox forbids it"},
	{syscall.ENOSPC, "free some space on the file system, then try again"},
	{syscall.EDQUOT, "free some of the quota, then try again"},
	{syscall.EFBIG, "raise the limit on file sizes (ulimit -f), then try again"},
	{syscall.EMFILE, "close files or raise the limit on open ones (ulimit -n), then try again"},
	{syscall.ENFILE, "the machine has too many files open: end what holds them, then try again"},
	{syscall.ENOLCK, "the kernel has no more locks: end what holds them, then try again"},
	{syscall.EIO, "look at the disk, and at what the kernel says of it (dmesg), then try again"},
}

// advised adds advice to an error of the operating system that has none yet.
func advised(err error) error {
	for _, said := range []error{ErrIndeterminate, store.Lost, store.Unreadable, ErrBusy, statedir.ErrInvalidManifest} {
		if errors.Is(err, said) {
			return err
		}
	}
	var errno syscall.Errno
	if !errors.As(err, &errno) {
		return err
	}
	for _, a := range advice {
		if errno == a.err {
			return fmt.Errorf("%w: %s", err, a.todo)
		}
	}
	return err
}
