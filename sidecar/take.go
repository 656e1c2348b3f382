package sidecar

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/freehold-dev/freehold/sidecar/internal/failpoint"
	"github.com/freehold-dev/freehold/sidecar/internal/lease"
	"github.com/freehold-dev/freehold/sidecar/internal/lock"
	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
)

// leases keeps the leases of this process open until they are closed, so that
// a Writer that was dropped without Close does not lose its lease to the
// garbage collector while the process lives.
var leases sync.Map

// A taking is an Open of an exclusive owner on its way to the lease. Between
// its tries it holds nothing.
type taking struct {
	w       *Writer
	fence   *lock.Lock
	wait    time.Duration         // for the lease
	blocked map[blocker]time.Time // since when
	notices lease.Notices
}

// A blocker is what keeps an Open waiting.
type blocker int

const (
	nobody   blocker = iota
	atFence          // somebody holds the door shut: wait as long as the context allows
	atLease          // the owner has a live process: wait if asked
	atCommit         // somebody holds the owner's lock, which takes milliseconds
)

// takeLease makes this process the owner's live one.
func (w *Writer) takeLease(ctx context.Context, wait time.Duration) (err error) {
	if w.lease, err = w.openLock(statedir.OwnerLease(w.owner)); err != nil {
		return err
	}
	fence, err := w.openLock(statedir.OwnerFence(w.owner))
	if err != nil {
		return err
	}
	defer fence.Close()
	t := &taking{w: w, fence: fence, wait: wait, notices: lease.Notices{Looked: time.Now()}, blocked: map[blocker]time.Time{}}
	backoff := lock.NewBackoff(lease.LongestPause)
	for {
		by, err := t.try()
		if err != nil || by == nobody {
			return err
		}
		left := t.left(by)
		if left <= 0 {
			return t.refusal(by)
		}
		t.notice(by)
		if _, err := backoff.Pause(ctx, lock.Forever); err != nil {
			return fmt.Errorf("%w (%w)", t.refusal(by), err)
		}
	}
}

// try goes through the door once, in the order of the locks: the fence, the
// lease, the owner's lock. It returns what was in the way, with nothing held.
func (t *taking) try() (blocker, error) {
	w := t.w
	open, err := t.fence.TryShared()
	if err != nil {
		return atFence, err
	}
	if !open {
		return atFence, nil
	}
	defer t.fence.Release()
	failpoint.Hit(failpoint.TakeFence)
	if ok, err := w.lease.Try(); !ok {
		return atLease, err
	}
	failpoint.Hit(failpoint.TakeLease)
	by, err := t.begin()
	if by != nobody || err != nil {
		w.lease.Release()
		return by, err
	}
	leases.Store(w.lease, nil)
	failpoint.Hit(failpoint.TakeRecord)
	return nobody, nil
}

// begin begins the epoch, under the owner's lock.
func (t *taking) begin() (blocker, error) {
	w := t.w
	if ok, err := w.lock.Try(); !ok {
		return atCommit, err
	}
	defer w.lock.Release()
	return nobody, w.beginEpoch()
}

// left returns for how long more this Open may wait for by.
func (t *taking) left(by blocker) time.Duration {
	if by == atFence {
		return lock.Forever
	}
	since, ok := t.blocked[by]
	if !ok {
		since = time.Now()
		t.blocked[by] = since
	}
	wait := t.wait
	if by == atCommit {
		wait = max(wait, t.w.wait)
	}
	return wait - time.Since(since)
}

// refusal says who is in the way.
func (t *taking) refusal(by blocker) error {
	switch by {
	case atFence:
		return fmt.Errorf("owner %s: the fence is shut, as while its process is retired: %w", t.w.owner, t.fence.Busy())
	case atLease:
		return fmt.Errorf("owner %s is exclusive and has a live process%s: %w", t.w.owner, t.w.introduce(), t.w.lease.Busy())
	}
	return t.w.lock.Busy()
}

// introduce says what the record knows of the holder, if it speaks of the
// process that the kernel names.
func (w *Writer) introduce() string {
	lease, err := w.readLease()
	if err != nil || lease == nil || lease.Holder == nil {
		return ""
	}
	h := lease.Holder
	if pid := w.lease.Holder(); pid != 0 && pid != h.Identity.PID {
		return ""
	}
	return fmt.Sprintf(", program %.64q since %s in epoch %d", h.Program, h.Since.UTC().Format(time.RFC3339), lease.Epoch)
}

// notice tells why the Open waits, once, and again when that changes.
func (t *taking) notice(by blocker) {
	if t.w.notice == nil {
		return
	}
	t.notices.Tell(int(by), t.w.notice, func() error { return t.refusal(by) })
}
