//go:build unix

package store

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/unix"
)

// A draft is a file that is whole and durable, and has no name that counts.
type draft struct {
	folder *folder
	fd     int
	staged string // the private name that it has meanwhile, if any
	raw    []byte
}

// createExclusive makes raw the file name, whole, unless there is one: then it
// returns [fs.ErrExist]. A process that is killed at any moment leaves the whole
// of it, or nothing that counts.
func (f *folder) createExclusive(name string, raw []byte) error {
	d, err := f.draft(name, raw)
	return d.createAs(name, err)
}

// createStaged is createExclusive by way of a private name.
func (f *folder) createStaged(name string, raw []byte) error {
	d, err := f.draftStaged(name, raw)
	return d.createAs(name, err)
}

func (d *draft) createAs(name string, err error) error {
	if err != nil {
		return err
	}
	err = d.publish(name)
	if gone := d.close(); gone != nil {
		err = errors.Join(err, gone)
	}
	return err
}

// draftStaged makes a draft with a private name, which it loses when it gets
// another.
func (f *folder) draftStaged(name string, raw []byte) (*draft, error) {
	staged, fd, err := f.openStaged(name)
	if err != nil {
		return nil, err
	}
	return (&draft{folder: f, fd: fd, staged: staged, raw: raw}).fill(name)
}

func (d *draft) fill(name string) (*draft, error) {
	err := d.folder.fillFile(d.fd, name, d.raw)
	if err == nil {
		return d, nil
	}
	if gone := d.close(); gone != nil {
		err = errors.Join(err, gone)
	}
	return nil, err
}

// publishStaged gives the draft a name, which replaces nothing.
func (d *draft) publishStaged(name string) error {
	err := d.folder.renameNoReplace(d.staged, name)
	if err == nil {
		d.staged = ""
	}
	return err
}

// close ends the draft. If it has no name, it is gone.
func (d *draft) close() error {
	defer unix.Close(d.fd) // and with it the lock, which says that this process lives
	if d.staged == "" {
		return nil
	}
	if err := unix.Unlinkat(d.folder.fd, d.staged, 0); err != nil && err != unix.ENOENT {
		return d.folder.fail("remove", d.staged, err)
	}
	return nil
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
