package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// notes are the remedies of errors of the operating system.
var notes = map[syscall.Errno]string{
	syscall.EROFS:  "mount the file system read-write",
	syscall.EACCES: "give this user the right to write in the state directory (chmod u+w, chown), or run as its user",
	syscall.EPERM:  "look whether the directory or file is immutable (lsattr) or a sandbox forbids it",
	syscall.ENOSPC: "free some space on the file system, then try again",
	syscall.EDQUOT: "free some of the quota, then try again",
	syscall.EFBIG:  "raise the limit on file sizes (ulimit -f), then try again",
	syscall.EMFILE: "close files or raise the limit on open ones (ulimit -n), then try again",
	syscall.ENFILE: "close files of other processes, since the machine has too many open, then try again",
	syscall.ENOLCK: "end processes that hold locks, since the kernel has no more, then try again",
	syscall.EIO:    "look at the disk, and at the kernel's log (dmesg), then try again",
}

// Advise returns err with the remedy of the error of the operating system in
// it, unless err has a status or a remedy.
func Advise(err error) error {
	if errno := syscall.Errno(0); errors.As(err, &errno) && RemedyOf(err).IsZero() && StatusOf(err) == "" {
		return WithRemedy(err, byHand(notes[errno]))
	}
	return err
}

// accessRemedy returns the remedy of a file that cannot be read because of err:
// permission for this user on the file or a directory above it, or else
// otherwise.
func accessRemedy(err error, otherwise Remedy) Remedy {
	var at *fs.PathError
	if !errors.Is(err, fs.ErrPermission) || !errors.As(err, &at) || !filepath.IsAbs(at.Path) {
		return otherwise
	}
	path := at.Path
	info, missing := os.Lstat(path)
	for errors.Is(missing, fs.ErrPermission) {
		path = filepath.Dir(path)
		info, missing = os.Lstat(path)
	}
	if missing != nil {
		return otherwise
	}
	tool := []string{"chmod", "u+rw", path}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != User() {
		tool = []string{"chown", fmt.Sprint(User()), path}
	} else if info.IsDir() {
		tool[1] = "u+rwx"
	}
	return Remedy{Tool: tool}
}
