package sidecar

import (
	"errors"
	"syscall"

	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// systemRemedies are the remedies of errors of the operating system.
var systemRemedies = map[syscall.Errno]string{
	syscall.EROFS:  "mount the file system read-write; readers work meanwhile",
	syscall.EACCES: "give this user the right to write in the state directory (chmod u+w, chown), or run as the user that has it",
	syscall.EPERM:  "look whether the directory or file is immutable (lsattr) or a sandbox forbids it",
	syscall.ENOSPC: "free some space on the file system, then try again",
	syscall.EDQUOT: "free some of the quota, then try again",
	syscall.EFBIG:  "raise the limit on file sizes (ulimit -f), then try again",
	syscall.EMFILE: "close files or raise the limit on open ones (ulimit -n), then try again",
	syscall.ENFILE: "end processes with many open files, then try again",
	syscall.ENOLCK: "end processes with many locks, then try again",
	syscall.EIO:    "look at the disk, and at the kernel's messages of it (dmesg), then try again",
}

// advised adds a remedy to an error of the operating system that has none yet.
func advised(err error) error {
	for _, said := range []error{ErrIndeterminate, store.Lost, store.Unreadable, ErrBusy, statedir.ErrInvalidManifest} {
		if errors.Is(err, said) {
			return err
		}
	}
	var errno syscall.Errno
	if !errors.As(err, &errno) || systemRemedies[errno] == "" {
		return err
	}
	return store.WithRemedy(err, store.Remedy{Note: systemRemedies[errno]})
}
