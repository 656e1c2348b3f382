// Package claims makes the file of a once field: complete or absent, with one
// name, and never changed. Of all processes that make one, exactly one does.
package claims

import (
	"errors"
	"fmt"

	"github.com/freehold-dev/freehold/sidecar/internal/dir"
	"github.com/freehold-dev/freehold/sidecar/internal/status"
	"golang.org/x/sys/unix"
)

// maxSize bounds the bytes that are read of a file, which another program may
// have made.
const maxSize = 8 << 10

// A Claim is the file of a once field. It is safe for concurrent use.
//
// Each call looks the file up from the state directory, because a directory
// that was moved away still has all its files.
type Claim struct {
	state  *dir.Dir
	folder string // of the file, relative to state
	ino    uint64 // of folder
	id     string // of folder; or empty
	name   string
	path   string // relative to state
}

// New returns the claim name in the directory folder, relative to state, with
// the inode number ino and the id, if not empty.
func New(state *dir.Dir, folder string, ino uint64, id, name string) *Claim {
	return &Claim{state, folder, ino, id, name, folder + "/" + name}
}

// MakeDir makes the directory of owner's claims below the directory name, or
// takes the one that is there, and returns its inode number and id. The caller
// syncs meta.
func MakeDir(meta *dir.Dir, name, owner string) (ino uint64, id string, err error) {
	above, err := meta.MakeDir(name)
	if err != nil {
		return 0, "", err
	}
	defer above.Close()
	made, err := above.MakeDir(owner)
	if err != nil {
		return 0, "", err
	}
	defer made.Close()
	var st unix.Stat_t
	if err := unix.Fstat(made.FD(), &st); err != nil {
		return 0, "", above.Fail("stat", owner, err)
	}
	if id, err = dir.MakeID(made); err != nil {
		return 0, "", err
	}
	return st.Ino, id, above.Sync()
}

// Path returns the file's absolute path.
func (c *Claim) Path() string { return c.state.Join(c.path) }

// Probe returns an error that wraps [status.Unsupported] if the file system
// cannot make a file whole under a new name, and [status.Lost] if the directory
// is lost. It ignores faults that may go away.
func (c *Claim) Probe() error {
	d, err := c.open()
	if err == nil {
		err = d.ProbeCreate()
		d.Close()
	}
	if errors.Is(err, status.Unsupported) || errors.Is(err, status.Lost) {
		return err
	}
	return nil
}

// Check returns an error that wraps [status.Lost] if the directory is not the
// one of the manifest.
func (c *Claim) Check() error {
	d, err := c.open()
	if err == nil {
		d.Close()
	}
	return err
}

// Read reads the file into buf, grown if needed. The error is [fs.ErrNotExist]
// if the field is not claimed, and wraps [status.Lost] if the directory is
// lost.
func (c *Claim) Read(buf []byte) ([]byte, error) {
	d, err := c.open()
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.ReadFile(c.name, buf, maxSize)
}

// Publish makes raw the file, durably, and reports whether it made the name. If
// so, an error that wraps [status.Lost] or [status.Moved] means that no process
// looks there, and any other that the file may not survive power loss. If not,
// nothing has changed, and [fs.ErrExist] means that the field was claimed
// before.
func (c *Claim) Publish(raw []byte) (made bool, err error) {
	d, err := c.open()
	if err != nil {
		return false, err
	}
	defer d.Close()
	if err := d.CreateExclusive(c.name, raw); err != nil {
		return false, err
	}
	if err := d.Sync(); err != nil {
		return true, err
	}
	return true, c.inPlace()
}

// Sync makes the claim of another process durable, which may have been killed
// too early.
func (c *Claim) Sync() error {
	d, err := c.open()
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil {
		return err
	}
	return c.inPlace()
}

// inPlace makes sure that the file is where every other process looks for it.
func (c *Claim) inPlace() error {
	if err := c.state.Unmoved(); err != nil {
		return err
	}
	d, err := c.open()
	if err != nil {
		return err
	}
	defer d.Close()
	var st unix.Stat_t
	if err := unix.Fstatat(d.FD(), c.name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return c.lost(err)
	}
	return nil
}

// Same is [dir.Dir.Same] for the claim.
func (c *Claim) Same(known, spare []byte) (bool, []byte) { return c.state.Same(c.path, known, spare) }

// Absent reports whether the field is not claimed, without allocating.
func (c *Claim) Absent() bool { return c.state.Absent(c.path) && c.state.InodeOf(c.folder) == c.ino }

// open opens the directory of the claim.
func (c *Claim) open() (*dir.Dir, error) {
	d, err := c.state.OpenDir(c.folder)
	if err != nil {
		return nil, c.lost(err)
	}
	var st unix.Stat_t
	if err = unix.Fstat(d.FD(), &st); err != nil {
		err = c.lost(err)
	} else if st.Ino != c.ino {
		err = c.lost(fmt.Errorf("%w: inode %d was made with the state, inode %d is there", dir.ErrAnother, c.ino, st.Ino))
	} else if c.id != "" {
		if err = dir.Identify(d, c.id); errors.Is(err, dir.ErrAnother) {
			err = c.lost(err)
		}
	}
	if err == nil {
		err = d.Private()
	}
	if err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// lost returns an error that wraps [status.Lost] if err means that the
// directory is not there.
func (c *Claim) lost(err error) error {
	if !dir.NotThere(err) && !errors.Is(err, dir.ErrAnother) {
		return c.state.Fail("open", c.folder, err)
	}
	switch err {
	case unix.EXDEV:
		err = errors.New("something is mounted there")
	case unix.ELOOP:
		err = errors.New("a symbolic link is in its place")
	case unix.ENOTDIR:
		err = errors.New("something else is in its place")
	}
	return &status.Error{
		Status: status.Lost, Path: c.state.Join(c.folder),
		Remedy: dir.Unmount(c.state.Join(c.folder), status.By(status.Repair).Or("put it back if it was moved")),
		Err:    errors.New(err.Error()), // not wrapped: a claim that is not there is another matter
	}
}
