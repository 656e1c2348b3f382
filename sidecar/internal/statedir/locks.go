package statedir

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/lock"
	"golang.org/x/sys/unix"
)

// A Lock is a kernel lock on one lock file of a state.
type Lock = lock.Lock

// A Holder is the process that has a lock for itself, as far as the kernel tells.
type Holder = lock.Holder

// OpenLock opens the lock file name, whose inode the manifest gives as ino. It
// returns an error that wraps [status.Lost] if the file is missing, is no plain file or
// is another one.
func (d *Dir) OpenLock(name string, ino uint64) (*Lock, error) {
	return lock.Open(d.state.Dir, metaName+"/"+name, ino)
}

// Holder returns the process that has the lock of the state that is called name,
// such as [OwnerLock]. It does not try the lock, and may look at every process of
// the machine. By the time the caller looks at the answer, it may be wrong. It
// returns an error that wraps [status.Lost] if the lock is lost.
func (d *Dir) Holder(m *schema.Manifest, name string) (Holder, error) {
	l, err := d.OpenLock(name, m.Locks[name])
	if err != nil {
		return Holder{}, err
	}
	defer l.File().Close() // it was never taken
	return l.Examine(), nil
}

// Obstructed returns the errors that [Dir.LockAll] would return with one after
// the other of the state's locks, those of m, or nil, and takes none. A lock that a
// commit holds is an error if the same process has it for all of wait. Where the
// kernel does not tell the holder of a lock, the lock counts as free.
func (d *Dir) Obstructed(ctx context.Context, m *schema.Manifest, wait time.Duration) error {
	var errs []error
	for _, name := range lockNames(&m.Declaration) {
		patience := wait
		if !strings.HasSuffix(name, commitLock) {
			patience = 0
		}
		errs = append(errs, d.obstructed(ctx, name, m.Locks[name], patience))
	}
	return errors.Join(errs...)
}

// OwnerObstructed is [Dir.Obstructed] for the locks that a process of owner takes,
// each of which it waits for as long as wait.
func (d *Dir) OwnerObstructed(ctx context.Context, m *schema.Manifest, owner string, wait time.Duration) error {
	names := []string{OwnerLock(owner)}
	if m.Declaration.Owners[owner].EffectiveMode() == schema.Exclusive {
		names = []string{OwnerFence(owner), OwnerLease(owner), OwnerLock(owner)}
	}
	for _, name := range names {
		if err := d.obstructed(ctx, name, m.Locks[name], wait); err != nil {
			return err
		}
	}
	return nil
}

func (d *Dir) obstructed(ctx context.Context, name string, ino uint64, wait time.Duration) error {
	l, err := d.OpenLock(name, ino)
	if err != nil {
		return err
	}
	defer l.File().Close() // it was never taken
	first := l.Holder()
	if first == 0 && !strings.HasSuffix(name, commitLock) { // children inherit no lock of commits
		if pid := l.InheritedBy(); pid != 0 {
			return l.BusyBy(pid)
		}
	}
	for backoff := lock.NewBackoff(longestLook); first != 0; {
		if more, err := backoff.Pause(ctx, wait); err != nil || !more {
			return l.BusyBy(first)
		}
		if l.Holder() != first {
			return nil
		}
	}
	return nil
}

// Writable returns the error of making a file in the state's directories, if they
// are read-only or another user's. Writable makes none, and does not notice a full
// disk.
func (d *Dir) Writable() error {
	for _, f := range []*folder{d.state, d.meta} {
		if err := unix.Faccessat(f.FD(), ".", unix.W_OK|unix.X_OK, unix.AT_EACCESS); err != nil {
			return f.Fail("write in", ".", err)
		}
	}
	return nil
}

// longestLook is the longest pause between two looks at the kernel's list of locks,
// which is long where there are many.
const longestLook = 10 * time.Millisecond
