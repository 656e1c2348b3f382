//go:build unix

package store

import (
	"bytes"
	"errors"
	"io/fs"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// maxClaim bounds what is read of a claim's file, which may be a stranger's.
const maxClaim = 8 << 10

// A Claim is the file of a once field, to be made or to be read: it is complete
// or absent, has one name and never changes. A Claim is safe for concurrent
// use.
//
// The file is looked up from the state directory each time, because a directory
// that was moved away still has all its files.
type Claim struct {
	dir    *Store
	folder string // in which it is, relative to dir
	ino    uint64 // of folder
	name   string
	path   string // relative to dir
}

// Claim returns the claim of a field of owner, for whose directory of claims
// the manifest gives the inode number ino.
func (d *Store) Claim(owner, field string, ino uint64) *Claim {
	return &Claim{d, claimDir(owner), ino, field, ClaimFile(owner, field)}
}

// Path returns the file's absolute path.
func (c *Claim) Path() string { return filepath.Join(c.dir.path, c.path) }

// Probe returns an error that wraps [ErrUnsupported] if the file system cannot
// make a file whole under a name that nobody has, and [ErrClaims] if the
// directory is lost. What may go away again, such as a full disk, it leaves to
// Publish.
func (c *Claim) Probe() error {
	err := c.probe()
	if errors.Is(err, ErrUnsupported) || errors.Is(err, ErrClaims) {
		return err
	}
	return nil
}

// Read reads the file into buf, which it grows if needed. It returns
// [fs.ErrNotExist] if the field is not claimed, an error that wraps [ErrClaims]
// if nobody can know, and those of [Store.ReadFile].
func (c *Claim) Read(buf []byte) ([]byte, error) {
	f, err := c.open()
	if err != nil {
		return nil, err
	}
	defer f.close()
	return f.readFile(c.name, buf, maxClaim)
}

// Publish makes raw the file, whole and durable, unless there is one.
// It reports whether it made the name. Then an error that wraps [ErrClaims] or
// [ErrReplaced] means that the file is where nobody looks, and any other that
// it may not survive power loss. If it did not, nothing has changed, and
// [fs.ErrExist] means that the field was claimed before.
func (c *Claim) Publish(raw []byte) (made bool, err error) {
	f, err := c.open()
	if err != nil {
		return false, err
	}
	defer f.close()
	err = f.createExclusive(c.name, raw)
	if err != nil && !errors.Is(err, fs.ErrExist) && f.holds(c.name, raw) {
		err = nil // some file systems report an error for what took place
	}
	if err != nil {
		return false, err
	}
	if err := f.sync(); err != nil {
		return true, err
	}
	return true, c.inPlace()
}

func (f *folder) holds(name string, raw []byte) bool {
	have, err := f.readFile(name, nil, maxClaim)
	return err == nil && bytes.Equal(have, raw)
}

// Sync makes durable what somebody else claimed, who may have
// been killed before he could.
func (c *Claim) Sync() error {
	f, err := c.open()
	if err != nil {
		return err
	}
	defer f.close()
	if err := f.sync(); err != nil {
		return err
	}
	return c.inPlace()
}

// inPlace makes sure that the file is where every other process looks
// for it.
func (c *Claim) inPlace() error {
	if err := c.dir.Unmoved(); err != nil {
		return err
	}
	f, err := c.open()
	if err != nil {
		return err
	}
	defer f.close()
	var st unix.Stat_t
	if err := unix.Fstatat(f.fd, c.name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return c.lost(err)
	}
	return nil
}

// Same is [Store.Same] for the claim.
func (c *Claim) Same(known, spare []byte) (bool, []byte) {
	fd, err := c.dir.state.openBelow(c.path, openFlags)
	return sameBytes(fd, err, known, spare)
}

// Absent reports whether the field is not claimed. It allocates nothing.
func (c *Claim) Absent() bool {
	fd, err := c.dir.state.openBelow(c.path, openFlags)
	if err == nil {
		unix.Close(fd)
	}
	return err == unix.ENOENT && c.dir.inodeOf(c.folder) == c.ino
}
