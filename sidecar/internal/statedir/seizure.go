package statedir

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/freehold-dev/freehold/sidecar/internal/status"
	"golang.org/x/sys/unix"
)

// gonePrefix begins the names of instances that are being removed. Like
// newPrefix it is no instance's.
const gonePrefix = ".freehold-gone-"

// A Seizure holds an instance so that no process works in it.
type Seizure struct {
	dir   *Dir
	locks []*Lock
}

// LockExclusive takes every lock in the instance without waiting, in the order of all
// processes: that of [Dir.LockShared], the state's lock, and of each owner by name
// the fence, the lease and the lock. It
// returns an error that wraps [status.Busy] if somebody holds one of them.
func (d *Dir) LockExclusive() (*Seizure, error) {
	s := &Seizure{dir: d}
	if ok, err := d.state.Lock(unix.LOCK_EX); err != nil {
		return nil, err
	} else if !ok {
		return nil, fault(status.Busy, d.Path(), byHand("try again when the process has ended"), errors.New("a process has the instance open"))
	}
	if err := s.takeAll(); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *Seizure) takeAll() error {
	if err := s.dir.Unmoved(); err != nil {
		return err
	}
	m, err := s.dir.Manifest()
	if err != nil {
		return err
	}
	s.locks, err = s.dir.acquireAll(context.Background(), m, lockNames(&m.Declaration), 0)
	return err
}

// Close lets everything go. The directory stays open.
func (s *Seizure) Close() error {
	var errs []error
	for _, l := range s.locks {
		errs = append(errs, l.Close())
	}
	return errors.Join(append(errs, unix.Flock(s.dir.state.FD(), unix.LOCK_UN))...)
}

// Discard removes the instance. It first gives the directory a name that
// nobody takes for an instance's, so that it is there as a whole or gone: what
// it does not get to delete, [RemoveLeftover] does. It returns an error that
// wraps [status.Moved], and removes nothing, if another directory has taken the
// instance's place.
func (s *Seizure) Discard() error {
	d := s.dir
	parent, err := openFolder(filepath.Dir(d.Path()))
	if err != nil {
		return err
	}
	defer parent.Close()
	if err := d.Unmoved(); err != nil {
		return err
	}
	name, gone := filepath.Base(d.Path()), gonePrefix+process.NewNonce()
	if err := parent.RenameNew(name, gone); err != nil {
		return err
	}
	// A program without locks may have moved another directory there since the
	// last look. That is put back, onto nothing.
	var st unix.Stat_t
	if err := unix.Fstatat(parent.FD(), gone, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil || st.Ino != d.state.Inode() {
		return errors.Join(fault(status.Moved, d.Path(), byHand("try again"), errors.New("nothing was removed")), err, parent.RenameNew(gone, name))
	}
	if err := parent.Sync(); err != nil { // else a crash could leave half of it under its own name
		return err
	}
	if err := parent.Root().RemoveAll(gone); err != nil {
		return parent.Located(err)
	}
	return parent.Sync()
}
