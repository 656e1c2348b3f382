package lease

import (
	"context"
	"fmt"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
	"github.com/freehold-dev/freehold/sidecar/internal/status"
)

// Locks are the locks of an exclusive owner and their directory, opened by any
// process.
type Locks struct {
	Store                *statedir.Dir
	Manifest             *schema.Manifest
	Owner                string
	Declared             schema.Owner
	Fence, Lease, Commit *statedir.Lock
}

// OpenLocks opens the locks of owner in the state directory dir. It returns an
// error that wraps [status.NoLease] if the owner is shared.
func OpenLocks(dir, owner string) (_ *Locks, err error) {
	l := &Locks{Owner: owner}
	if l.Store, err = statedir.Open(dir); err != nil {
		return nil, err
	}
	if err := l.open(); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

func (l *Locks) open() (err error) {
	if l.Manifest, err = Enter(context.Background(), l.Store, nil, l.Owner, 0); err != nil {
		return err
	}
	declared, ok := l.Manifest.Declaration.Owners[l.Owner]
	if !ok {
		return Undeclared(l.Store, l.Manifest, l.Owner)
	}
	if l.Declared = declared; declared.EffectiveMode() != schema.Exclusive {
		return fmt.Errorf("%s: %w: owner %s is shared, and only exclusive owners have one; declare it exclusive", l.Store.Path(), status.NoLease, l.Owner)
	}
	for name, lock := range map[string]**statedir.Lock{
		statedir.OwnerFence(l.Owner): &l.Fence, statedir.OwnerLease(l.Owner): &l.Lease, statedir.OwnerLock(l.Owner): &l.Commit,
	} {
		if *lock, err = l.Store.OpenLock(l.Manifest, name); err != nil {
			return err
		}
	}
	return nil
}

// Close lets go all locks, the fence last.
func (l *Locks) Close() {
	for _, lock := range []*statedir.Lock{l.Commit, l.Lease, l.Fence} {
		if lock != nil {
			lock.Close()
		}
	}
	l.Store.Close()
}

// Undeclared returns the error of an owner that the state does not have.
func Undeclared(dir *statedir.Dir, m *schema.Manifest, owner string) error {
	return fmt.Errorf("%s: %w: state %s has no owner %q; %s", dir.Path(), status.NotOwner, m.Declaration.State, owner, schema.DidYouMean(owner, "its owners are", m.Declaration.OwnerNames()))
}

// Enter returns the manifest for a program built from d, or with a nil d for
// any program. It keeps an instance from being removed until dir is closed. It
// waits for other processes as long as owner's commits wait.
func Enter(ctx context.Context, dir *statedir.Dir, d *schema.Declaration, owner string, wait time.Duration) (*schema.Manifest, error) {
	known := d
	if d == nil {
		m, err := dir.Manifest()
		if err != nil || m.Instance == "" && m.Pending == nil {
			return m, err
		}
		known = &m.Declaration
	}
	if wait == 0 {
		wait = known.Owners[owner].EffectiveWait()
	}
	until := time.Now().Add(max(wait, 0))
	if known.Instanced() {
		if err := dir.LockShared(ctx, wait); err != nil {
			return nil, err
		}
	}
	if d != nil {
		return dir.Upgrade(ctx, d, time.Until(until))
	}
	return dir.Settled(ctx, time.Until(until))
}

// LongestPause bounds how late a process that waits sees that a lease is free.
const LongestPause = 20 * time.Millisecond

// noticeAfter is the time of a silent wait, and between two looks at the
// process in the way.
const noticeAfter = time.Second

// Notices tell why a call waits. The answer reads the record of the lease and
// the kernel's list of locks, so that not every try asks.
type Notices struct {
	Looked time.Time // last, or when the wait began
	told   string
}

// Tell calls notice with the error of why, if it is another one than before. It
// asks once a noticeAfter, also if the process in the way changes: in a container
// the answer costs a look at every process.
func (n *Notices) Tell(notice func(error), why func() error) {
	if time.Since(n.Looked) < noticeAfter {
		return
	}
	n.Looked = time.Now()
	if err := why(); err.Error() != n.told {
		n.told = err.Error()
		notice(err)
	}
}
