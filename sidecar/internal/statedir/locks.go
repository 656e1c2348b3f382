package statedir

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/dir"
	"github.com/freehold-dev/freehold/sidecar/internal/lock"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/freehold-dev/freehold/sidecar/internal/status"
	"golang.org/x/sys/unix"
)

// A Lock is a kernel lock on one lock file of a state.
type Lock = lock.Lock

// OpenLock opens the lock file name. It returns an error that wraps
// [status.Lost] if the file is missing, irregular, or not the one of m.
func (d *Dir) OpenLock(m *schema.Manifest, name string) (*Lock, error) {
	l, err := lock.Open(d.state, metaName+"/"+name, m.Locks[name], m.IDs[name])
	if errors.Is(err, fs.ErrPermission) { // the lock is there, and repair would make another one
		err = status.With(err, AccessRemedy(err, status.Remedy{}))
	}
	return l, err
}

// Holder returns the process that has the lock called name. It may look at
// every process of the machine.
func (d *Dir) Holder(m *schema.Manifest, name string) (lock.Holder, error) {
	l, err := d.OpenLock(m, name)
	if err != nil {
		return lock.Holder{}, err
	}
	defer l.File().Close() // it was never taken
	return l.Examine(), nil
}

// Locked reports whether a process has, or may have, the commit lock of owner,
// without trying the lock. A lost lock is an error that wraps [status.Lost].
func (d *Dir) Locked(m *schema.Manifest, owner string) (bool, error) {
	return taken(d, m, OwnerLock(owner))
}

func taken(d *Dir, m *schema.Manifest, name string) (bool, error) {
	l, err := d.OpenLock(m, name)
	if err != nil {
		return false, err
	}
	defer l.File().Close()
	return l.Taken()
}

// lockNames lists the lock files of a state in the order in which processes
// take them.
func lockNames(d *schema.Declaration) []string {
	names := []string{stateLock}
	for _, owner := range d.OwnerNames() {
		if d.Owners[owner].EffectiveMode() == schema.Exclusive {
			names = append(names, OwnerFence(owner), OwnerLease(owner))
		}
		names = append(names, OwnerLock(owner))
	}
	return names
}

// lockState takes the state's lock within wait and reads the manifest under it.
func (d *Dir) lockState(ctx context.Context, wait time.Duration) (m *schema.Manifest, release func(), err error) {
	if m, err = d.Manifest(); err != nil {
		return nil, nil, err
	}
	lock, err := d.OpenLock(m, stateLock)
	if err != nil {
		return nil, nil, err
	}
	err = lock.Acquire(ctx, wait)
	if err == nil {
		m, err = d.Manifest()
	}
	if err != nil {
		lock.Close()
		return nil, nil, err
	}
	return m, func() { lock.Close() }, nil
}

// LockAll takes the state's lock, then each owner's fence, lease and commit
// lock. It waits as long as wait, but for a lease or a fence not at all. It
// returns an error that wraps [status.Busy], or the manifest under the locks.
func (d *Dir) LockAll(ctx context.Context, wait time.Duration) (m *schema.Manifest, release func(), err error) {
	until := time.Now().Add(wait) // for all together
	m, unlock, err := d.lockState(ctx, wait)
	if err != nil {
		return nil, nil, err
	}
	held, err := acquireAll(d, ctx, m, lockNames(&m.Declaration)[1:], until)
	release = func() {
		for _, l := range slices.Backward(held) {
			l.Close()
		}
		unlock()
	}
	if err != nil {
		release()
		return nil, nil, err
	}
	return m, release, nil
}

// acquireAll takes locks in the order of names: those of commits before until,
// leases and fences without waiting. It returns those that it has, also with an
// error.
func acquireAll(d *Dir, ctx context.Context, m *schema.Manifest, names []string, until time.Time) (held []*Lock, err error) {
	for _, name := range names {
		l, err := d.OpenLock(m, name)
		if err != nil {
			return held, err
		}
		held = append(held, l)
		patience := max(time.Until(until), 0)
		if !strings.HasSuffix(name, commitLock) {
			patience = 0
		}
		if err := l.Acquire(ctx, patience); err != nil {
			return held, err
		}
	}
	return held, nil
}

// LockShared keeps the instance from being removed until d is closed. It waits
// for a process that is about to remove the instance, and then returns an error
// that wraps [status.Busy] or [status.Moved].
func (d *Dir) LockShared(ctx context.Context, wait time.Duration) error {
	for backoff := lock.NewBackoff(lock.LongestPause); ; {
		ok, err := d.state.Lock(unix.LOCK_SH)
		if err != nil {
			return err
		}
		if ok {
			return d.Unmoved()
		}
		if more, err := backoff.Pause(ctx, wait); err != nil || !more {
			return errors.Join(fault(status.Busy, d.Path(), byHand("try again"), errors.New("another process is about to remove the instance")), err)
		}
	}
}

// A Seizure holds an instance so that no process works in it.
type Seizure struct {
	dir   *Dir
	locks []*Lock
}

// LockExclusive takes the lock of [Dir.LockShared] and those of [Dir.LockAll],
// without waiting. It returns an error that wraps [status.Busy] if a process
// holds one.
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
	s.locks, err = acquireAll(s.dir, context.Background(), m, lockNames(&m.Declaration), time.Time{})
	return err
}

// Close lets all locks go. The directory stays open.
func (s *Seizure) Close() error {
	var errs []error
	for _, l := range s.locks {
		errs = append(errs, l.Close())
	}
	return errors.Join(append(errs, s.dir.state.Unlock())...)
}

// Discard removes the instance. It first renames the directory, so that the
// instance is there as a whole or gone. It returns an error that wraps
// [status.Moved], and removes nothing, if another directory has taken its
// place.
func (s *Seizure) Discard() error {
	d := s.dir
	parent, err := dir.Open(filepath.Dir(d.Path()))
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

// probe is the content that Probe writes, as much as a usual sidecar.
var probe = make([]byte, 16<<10)

// Probe tries the system calls of a commit of the owners, as far as no other process sees it: in
// files without a name it writes, locks and syncs, it syncs the directories, and it
// tries to rename each sidecar. Where the file system has no such files, it looks at
// the permissions instead.
func Probe(d *Dir, owners []string) error {
	if err := d.Writable(); err != nil {
		return err
	}
	for _, f := range []*dir.Dir{d.state, d.meta} {
		if err := dir.WriteNameless(f, probe); err != nil {
			return err
		}
		if err := f.Sync(); err != nil {
			return err
		}
	}
	for _, owner := range owners {
		if err := renamable(d.state, Sidecar(owner)); err != nil {
			return err
		}
	}
	return nil
}

// renamable returns the error that keeps the file name from being renamed or replaced.
// A rename onto a directory that is not empty never takes place: the kernel looks at
// rights, attributes and rules first, and then refuses the directory.
func renamable(d *dir.Dir, name string) error {
	switch err := unix.Renameat(d.FD(), name, d.FD(), metaName); err {
	case unix.EPERM, unix.EACCES, unix.EROFS, unix.ENOSYS, unix.ENOTSUP, unix.EIO, unix.EDQUOT, unix.ENOSPC:
		return d.Fail("rename", name, err)
	}
	return nil // most likely EISDIR; another finding tells of a file that is missing or a mount
}

// Writable returns the error of making a file in a directory that is read-only
// or that belongs to another user.
func (d *Dir) Writable() error {
	for _, f := range []*dir.Dir{d.state, d.meta} {
		if err := unix.Faccessat(f.FD(), ".", unix.W_OK|unix.X_OK, unix.AT_EACCESS); err != nil {
			return f.Fail("write in", ".", err)
		}
	}
	return nil
}
