package dir

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/freehold-dev/freehold/sidecar/internal/status"
	"golang.org/x/sys/unix"
)

// A Draft is a new file that is whole and durable, and has no name that counts,
// for one goroutine at a time.
type Draft struct {
	dir    *Dir
	fd     int
	staged string // the private name that it has meanwhile, if any
	raw    []byte
}

// FD returns the file's descriptor, which stays open until Close.
func (d *Draft) FD() int { return d.fd }

// Dir returns the directory of the file.
func (d *Draft) Dir() *Dir { return d.dir }

// IDName is the file with the id of a directory. No field and no patch has the
// name.
const IDName = ".id"

// ErrAnother is the cause if a directory is not the one that was made with the
// state.
var ErrAnother = errors.New("it is another one")

// Identify returns an error unless d has the id. The error wraps [ErrAnother] if d
// has another one, or none.
func Identify(d *Dir, id string) error {
	raw, err := d.ReadFile(IDName, nil, 64)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, ErrIrregular) && !errors.Is(err, ErrTooLarge) {
		return err
	}
	if found := strings.TrimSuffix(string(raw), "\n"); found != id {
		return fmt.Errorf("%w: the id %q was made with the state, the directory has %q", ErrAnother, id, found)
	}
	return nil
}

// MakeID gives d an id, unless d has one, and returns the one that d has, durably.
func MakeID(d *Dir) (id string, err error) {
	id = process.NewNonce()
	err = d.CreateExclusive(IDName, []byte(id+"\n"))
	if errors.Is(err, fs.ErrExist) {
		raw, err := d.ReadFile(IDName, nil, 64)
		return strings.TrimSuffix(string(raw), "\n"), err
	}
	if err != nil {
		return "", d.Fail("make", IDName, err)
	}
	return id, d.Sync()
}

// CreateExclusive makes raw the file name, whole, unless there is one: then the
// error is [fs.ErrExist]. A process that is killed at any moment leaves the whole
// file, or nothing that counts. [Dir.Sync] makes the name survive power loss.
func (d *Dir) CreateExclusive(name string, raw []byte) error {
	draft, err := d.Draft(name, raw)
	if err != nil {
		return err
	}
	return draft.publishAndClose(name)
}

func (d *Draft) publishAndClose(name string) error {
	err := d.Publish(name)
	if err != nil && !errors.Is(err, fs.ErrExist) && holds(d.dir, name, d.raw) {
		err = nil // some file systems report an error for a link or rename that took place
	}
	if gone := d.Close(); gone != nil {
		err = errors.Join(err, gone)
	}
	return err
}

// draftStaged makes a draft with a private name, until Publish gives the draft
// another.
func draftStaged(d *Dir, name string, raw []byte) (*Draft, error) {
	staged, fd, err := openStaged(d, name)
	if err != nil {
		return nil, err
	}
	return (&Draft{dir: d, fd: fd, staged: staged, raw: raw}).fill(name)
}

// openStaged makes a new file that is to get the name later, locked while open:
// a file that is so called and is not locked was left by a dead process. A
// cleaner may come between the making and the locking; then there is another try.
func openStaged(d *Dir, name string) (staged string, fd int, err error) {
	for {
		staged = fmt.Sprintf(".%s.%s", name, process.NewNonce())
		fd, err = retry(func() (int, error) {
			return unix.Openat(d.fd, staged, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
		})
		if err != nil {
			return "", -1, d.Fail("create", staged, err)
		}
		free, err := Flock(fd, unix.LOCK_EX)
		if is, berr := d.Bears(fd, staged); err == nil && free && is && berr == nil {
			return staged, fd, nil
		}
		unix.Close(fd)
		if gone := unix.Unlinkat(d.fd, staged, 0); err != nil || gone != nil && gone != unix.ENOENT {
			return "", -1, d.Fail("lock", staged, errors.Join(err, gone))
		}
	}
}

// fill writes the draft, which is to be called name, durably. An fsync that
// failed is not tried again.
func (d *Draft) fill(name string) (*Draft, error) {
	err := d.write(name)
	if err == nil {
		return d, nil
	}
	if gone := d.Close(); gone != nil {
		err = errors.Join(err, gone)
	}
	return nil, err
}

func (d *Draft) write(name string) error {
	if err := unix.Fchmod(d.fd, 0o600); err != nil { // the umask may have taken bits away
		return d.dir.Fail("chmod", name, err)
	}
	for raw := d.raw; len(raw) > 0; {
		n, err := retry(func() (int, error) { return unix.Write(d.fd, raw) })
		if err == nil && n == 0 {
			err = unix.ENOSPC
		}
		if err != nil {
			return d.dir.Fail("write", name, err)
		}
		raw = raw[n:]
	}
	if err := unix.Fsync(d.fd); err != nil {
		return d.dir.Fail("fsync", name, err)
	}
	return nil
}

// publishStaged gives the draft a name, which replaces nothing.
func (d *Draft) publishStaged(name string) error {
	err := renameNoReplace(d.dir.fd, d.staged, name)
	switch err {
	case nil:
		d.staged = ""
		return nil
	case unix.EINVAL, unix.ENOSYS, unix.ENOTSUP:
		return &status.Error{
			Status: status.Unsupported, Path: d.dir.Join(name), Remedy: status.Remedy{Note: "keep the state on another file system"},
			Err: fmt.Errorf("this file system cannot rename without replacing (%w), so that two processes could both win a claim", err),
		}
	}
	return d.dir.Fail("rename", name, err)
}

// Close ends the draft. One without a name is gone.
func (d *Draft) Close() error {
	defer unix.Close(d.fd) // and with it the lock, which says that this process lives
	if d.staged == "" {
		return nil
	}
	if err := unix.Unlinkat(d.dir.fd, d.staged, 0); err != nil && err != unix.ENOENT {
		return d.dir.Fail("remove", d.staged, err)
	}
	return nil
}

// probeStaged makes and removes a file by way of a private name.
func probeStaged(d *Dir) error {
	name := ".probe." + process.NewNonce()
	draft, err := draftStaged(d, name, nil)
	if err == nil {
		err = draft.publishAndClose(name)
	}
	if err == nil || errors.Is(err, fs.ErrExist) {
		return unix.Unlinkat(d.fd, name, 0)
	}
	return err
}

// RenameNew renames a file or directory within d, onto nothing: a directory
// never takes the place of one that has something in it.
func (d *Dir) RenameNew(from, to string) error {
	err := renameNoReplace(d.fd, from, to)
	if err == unix.EINVAL || err == unix.ENOSYS || err == unix.ENOTSUP { // not every file system has it
		err = unix.Renameat(d.fd, from, d.fd, to)
	}
	if err != nil {
		return d.Fail("rename", from, err)
	}
	return nil
}
