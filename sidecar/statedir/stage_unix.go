//go:build unix

package statedir

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

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
		return fmt.Errorf("%s: %w: open it, or name another directory", filepath.Join(f.path, name), ErrExists)
	}
	if _, bare := err.(unix.Errno); bare {
		return f.fail("rename", name, err)
	}
	return err
}

// begin makes a new directory with a name of its own and locks it for as long
// as it is open: what is so called and is not locked was left by a process
// that is no more. Whoever removes such a thing may come between the making
// and the locking; then there is another try.
func (f *folder) begin() (*folder, error) {
	for {
		name := newPrefix + NewNonce()
		if err := unix.Mkdirat(f.fd, name, 0o700); err != nil {
			return nil, f.fail("mkdir", name, err)
		}
		fresh, err := f.openChild(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			f.root.Remove(name)
			return nil, err
		}
		if locked, err := fresh.lock(unix.LOCK_EX); err != nil || !locked || !fresh.named() {
			fresh.close()
			if err != nil {
				f.root.Remove(name)
				return nil, err
			}
			continue
		}
		if err := unix.Fchmod(fresh.fd, 0o700); err != nil { // the umask may have taken bits away
			err = fresh.fail("chmod", ".", err)
			fresh.close()
			f.root.Remove(name)
			return nil, err
		}
		return fresh, nil
	}
}

// lock takes the kernel's lock on the directory itself, if it is to be had.
func (f *folder) lock(how int) (bool, error) {
	_, err := retry(func() (int, error) { return 0, unix.Flock(f.fd, how|unix.LOCK_NB) })
	if err == unix.EWOULDBLOCK {
		return false, nil
	}
	if err != nil {
		return false, &fs.PathError{Op: "flock", Path: f.path, Err: err}
	}
	return true, nil
}

// named reports whether the directory still has its name.
func (f *folder) named() bool {
	var held, there unix.Stat_t
	return unix.Fstat(f.fd, &held) == nil && unix.Lstat(f.path, &there) == nil && held.Ino == there.Ino && held.Dev == there.Dev
}

// collectUnborn removes what was being made by processes that were killed:
// directories that nobody has locked. That one of them cannot be removed is no
// error, for it is in nobody's way.
func (f *folder) collectUnborn() error {
	names, err := f.names()
	if err != nil {
		return err
	}
	for _, name := range names {
		if nonce, ok := strings.CutPrefix(name, newPrefix); ok && ValidNonce(nonce) {
			f.collectOne(name)
		}
	}
	return nil
}

func (f *folder) collectOne(name string) {
	unborn, err := openFolder(filepath.Join(f.path, name))
	if err != nil {
		return // it became a state, or something else has its name
	}
	defer unborn.close()
	if locked, err := unborn.lock(unix.LOCK_EX); err == nil && locked {
		f.root.RemoveAll(name)
		unix.Flock(unborn.fd, unix.LOCK_UN)
	}
}
