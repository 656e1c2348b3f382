//go:build unix

package statedir

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/unix"
)

// createStaged makes raw the file name, whole, unless there is one: it writes a
// private file and renames it in a way that replaces nothing. A process that is
// killed in between leaves the private file, which counts for nothing.
func (f *folder) createStaged(name string, raw []byte) error {
	staged, fd, err := f.openStaged(name)
	if err != nil {
		return err
	}
	defer unix.Close(fd) // and with it the lock, which says that this process lives
	err = f.fillFile(fd, name, raw)
	if err == nil {
		err = f.renameNoReplace(staged, name)
	}
	if err == nil {
		return nil
	}
	if gone := unix.Unlinkat(f.fd, staged, 0); gone != nil && gone != unix.ENOENT {
		err = errors.Join(err, f.fail("remove", staged, gone))
	}
	return err
}

// fillFile writes raw to the new file fd, which is to be called name, and makes
// it durable. An fsync that failed is not tried again.
func (f *folder) fillFile(fd int, name string, raw []byte) error {
	if err := unix.Fchmod(fd, 0o600); err != nil { // the umask may have taken bits away
		return f.fail("chmod", name, err)
	}
	for len(raw) > 0 {
		n, err := retry(func() (int, error) { return unix.Write(fd, raw) })
		if err != nil {
			return f.fail("write", name, err)
		}
		if n == 0 {
			return f.fail("write", name, unix.ENOSPC)
		}
		raw = raw[n:]
	}
	if err := unix.Fsync(fd); err != nil {
		return f.fail("fsync", name, err)
	}
	return nil
}

// probeStaged tries createStaged with a name of its own, and removes that.
func (f *folder) probeStaged() error {
	name := ".probe." + NewNonce()
	err := f.createStaged(name, nil)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return unix.Unlinkat(f.fd, name, 0)
	}
	return err
}
