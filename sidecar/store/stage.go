package store

import (
	"errors"
	"io/fs"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// newPrefix begins the names of directories in the making. None can be an
// owner's file or an instance: their names do not begin with a dot.
const newPrefix = ".freehold-new-"

// stage makes the directory name: it prepares the whole of it under another
// name and then renames it, so that it is there complete or not at all. It
// returns an error that wraps [ErrExists] if name is a directory that has
// something in it: a directory never takes the place of such a one.
func (f *folder) stage(name string, fill func(*folder) error) error {
	fresh, err := f.begin()
	if err != nil {
		return err
	}
	defer fresh.close()
	base := filepath.Base(fresh.path)
	if err = fill(fresh); err == nil {
		err = unix.Renameat(f.fd, base, f.fd, name)
	}
	if err != nil {
		f.root.RemoveAll(base)
	}
	unix.Flock(fresh.fd, unix.LOCK_UN) // not left to a child that is between fork and exec
	if err == nil {
		return f.sync()
	}
	if errors.Is(err, fs.ErrExist) || errors.Is(err, unix.ENOTEMPTY) {
		return exists(filepath.Join(f.path, name))
	}
	if _, bare := err.(unix.Errno); bare {
		return f.fail("rename", name, err)
	}
	return err
}

// begin makes a new directory with a name of its own and locks it for as long
// as it is open: what is so called and is not locked was left by a process
// that is no more. Whoever removes such a thing may come between the making
// and the locking; then there is another try. The lock is one that all may have
// who work in the directory: its maker may be stopped when it has its last name.
func (f *folder) begin() (*folder, error) {
	for {
		name := newPrefix + NewNonce()
		var fresh *folder
		err := f.mkdir(name)
		if err == nil {
			fresh, err = f.openChild(name)
		}
		if errors.Is(err, fs.ErrNotExist) && f.named() {
			continue
		}
		if err != nil {
			f.root.Remove(name)
			return nil, err
		}
		locked, err := fresh.lock(unix.LOCK_SH)
		if locked && fresh.named() {
			return fresh, nil
		}
		fresh.close()
		f.root.Remove(name) // whether it has the name could not be said, or it has it no more
		if err != nil {
			return nil, err
		}
	}
}

// lock takes the kernel's lock on the directory itself, if it is to be had.
func (f *folder) lock(how int) (bool, error) {
	free, err := flock(f.fd, how)
	if err != nil {
		return false, &fs.PathError{Op: "flock", Path: f.path, Err: err}
	}
	return free, nil
}

// named reports whether the directory still has its name.
func (f *folder) named() bool { return named(f.fd, unix.AT_FDCWD, f.path) }

// named reports whether the open file fd has the name in the directory at, as far
// as that can be said: [bears] tells no from nobody knows.
func named(fd, at int, name string) bool {
	is, err := bears(fd, at, name)
	return is && err == nil
}

// bears reports whether the open file fd has the name in the directory at.
func bears(fd, at int, name string) (bool, error) {
	var held, there unix.Stat_t
	if err := unix.Fstat(fd, &held); err != nil {
		return false, err
	}
	if err := unix.Fstatat(at, name, &there, unix.AT_SYMLINK_NOFOLLOW); err == unix.ENOENT {
		return false, nil
	} else if err != nil {
		return false, err
	}
	return held.Ino == there.Ino && held.Dev == there.Dev, nil
}
