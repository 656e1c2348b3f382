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
// returns an error that wraps [Exists] if name is a directory that has
// something in it: a directory never takes the place of such a one.
func (f *folder) stage(name string, fill func(*folder) error) error {
	fresh, err := f.begin()
	if err != nil {
		return err
	}
	defer fresh.Close()
	base := filepath.Base(fresh.Path())
	if err = fill(fresh); err == nil {
		err = unix.Renameat(f.FD(), base, f.FD(), name)
	}
	if err != nil {
		f.Root().RemoveAll(base)
	}
	unix.Flock(fresh.FD(), unix.LOCK_UN) // not left to a child that is between fork and exec
	if err == nil {
		return f.Sync()
	}
	if errors.Is(err, fs.ErrExist) || errors.Is(err, unix.ENOTEMPTY) {
		return exists(filepath.Join(f.Path(), name))
	}
	if _, bare := err.(unix.Errno); bare {
		return f.Fail("rename", name, err)
	}
	return err
}

// begin makes a new directory with a name of its own and locks it for as long
// as it is open, so that one without a lock is orphaned. The remover of an
// orphan may come between the making and the locking; then there is another try.
// The lock is shared, so that other processes may work in the directory under
// its final name while its maker is stopped.
func (f *folder) begin() (*folder, error) {
	for {
		name := newPrefix + NewNonce()
		var fresh *folder
		err := f.Mkdir(name)
		if err == nil {
			fresh, err = f.openChild(name)
		}
		if errors.Is(err, fs.ErrNotExist) && f.Named() {
			continue
		}
		if err != nil {
			f.Root().Remove(name)
			return nil, err
		}
		locked, err := fresh.Lock(unix.LOCK_SH)
		if locked && fresh.Named() {
			return fresh, nil
		}
		fresh.Close()
		f.Root().Remove(name) // whether it has the name could not be said, or it has it no more
		if err != nil {
			return nil, err
		}
	}
}
