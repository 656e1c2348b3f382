package sidecar

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/freehold-dev/freehold/sidecar/internal/failpoint"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// Handoff passes the lease of an exclusive owner to the process to, which has
// called [Open] for the owner, with a LeaseWait, or is about to. Nobody else can
// fold it between. When Handoff returns nil, that process has begun its
// epoch, and every further call on this Writer but Close gets [ErrFenced].
//
// Updates wait meanwhile. Handoff returns an error that wraps [ErrBusy] if the
// fence is shut, as while this very process is being retired: for that it does
// not wait. It returns [ErrGone] if the successor has ended, and [ErrDeadline]
// if it did not take the lease before ctx ended: the lease is this Writer's
// again then, unless the error wraps ErrFenced too, because the successor got
// hold of it and stopped there. It returns [ErrNoLease] if the owner is shared, and [ErrCannotJudge] if to
// could be several processes: it is what [process.IdentityOf] says, or what
// [process.Self] said in the successor.
func (w *Writer) Handoff(ctx context.Context, to process.Identity) error {
	if w.lease == nil {
		return fmt.Errorf("%s: %w: owner %s is shared; declare it exclusive", w.file(), ErrNoLease, w.owner)
	}
	if verdict, why := to.Judge(); verdict == process.Gone {
		return fmt.Errorf("owner %s: nothing is handed to process %d: %w: %s; name one that runs", w.owner, to.PID, ErrGone, why)
	}
	if to.Nonce == "" && (to.Here() != "" || to.Start == 0 && to.PIDFD == 0) {
		return fmt.Errorf("owner %s: nothing is handed to process %d: %w: its number alone may be another process's; take its identity from IdentityOf, or its own from Self", w.owner, to.PID, ErrCannotJudge)
	}
	return w.alone(ctx, store.Forever, func() error { return w.handOff(ctx, to) })
}

// passTime is how long the door may be in use by those who look whether the
// lease is free. They wait for nobody while they do, so that only a stopped one
// takes long.
const passTime = 5 * time.Second

// shutToPass shuts the fence for a handoff. It is taken against the order of
// locks: whoever keeps it shut may be waiting for this very process to end, and
// is not waited for. Those who merely pass the door share it.
func shutToPass(ctx context.Context, fence *store.Lock) error {
	for pace := store.NewPace(longestLeasePause); ; {
		if ok, err := fence.Try(); ok || err != nil {
			return err
		}
		passing, err := fence.TryShared()
		if err != nil {
			return err
		}
		if !passing {
			return fence.Busy()
		}
		fence.Release()
		if more, err := pace.Pause(ctx, passTime); err != nil {
			return fmt.Errorf("%w (%w)", fence.Busy(), err)
		} else if !more {
			return fence.Busy()
		}
	}
}

func (w *Writer) handOff(ctx context.Context, to process.Identity) error {
	if err := context.Cause(ctx); err != nil {
		return fmt.Errorf("owner %s: %w before anything was handed to process %d: %w; try again", w.owner, ErrDeadline, to.PID, err)
	}
	fence, err := w.openLock(store.OwnerFence(w.owner))
	if err != nil {
		return err
	}
	defer fence.Close()
	if err := shutToPass(ctx, fence); err != nil {
		return fmt.Errorf("owner %s: its lease cannot be handed over now: %w", w.owner, err)
	}
	if err := w.underLock(ctx, func(lease *Lease) {
		lease.Handoff = &Successor{Identity: to, At: w.clock().UTC()}
	}); err != nil {
		return err
	}
	failpoint.Hit(failpoint.HandoffMarked)
	if err := w.lease.Release(); err != nil {
		return err
	}
	failpoint.Hit(failpoint.HandoffReleased)
	return w.awaitSuccessor(ctx, to)
}

// underLock changes the record of the lease that this Writer holds.
func (w *Writer) underLock(ctx context.Context, change func(*Lease)) error {
	if err := w.acquire(ctx, w.wait); err != nil {
		return err
	}
	defer w.lock.Release()
	if err := w.unmoved(); err != nil {
		return err
	}
	if err := w.holds(); err != nil {
		return err
	}
	lease, err := w.readRecord()
	if err != nil {
		return err
	}
	change(lease)
	return w.record(lease)
}

// awaitSuccessor returns when the successor has begun its epoch. If it does
// not, it takes the lease back.
func (w *Writer) awaitSuccessor(ctx context.Context, to process.Identity) error {
	for pace := store.NewPace(longestLeasePause); ; {
		if w.succeeded(to) {
			return nil
		}
		if _, err := pace.Pause(ctx, store.Forever); err != nil {
			return w.takeBack(to, fmt.Errorf("%w (%w)", ErrDeadline, err))
		}
		if verdict, why := to.Judge(); verdict == process.Gone {
			return w.takeBack(to, fmt.Errorf("%w: %s", ErrGone, why))
		}
	}
}

// succeeded reports whether a later epoch has begun, and ends this Writer for
// good if so.
func (w *Writer) succeeded(to process.Identity) bool {
	lease, err := w.readLease()
	if err != nil || lease == nil || lease.Epoch <= w.epoch {
		return false
	}
	w.fenced(lease.Epoch, fmt.Sprintf("the lease was handed to process %d", to.PID))
	return true
}

// takeBack takes the lease back from a successor that did not come, why tells
// why. One that has the lease already is given a moment to say so.
func (w *Writer) takeBack(to process.Identity, why error) error {
	ctx := context.Background()
	for pace := store.NewPace(longestLeasePause); ; {
		ok, err := w.lease.Try()
		if w.succeeded(to) {
			w.lease.Release()
			return nil
		}
		if ok {
			err = w.underLock(ctx, func(lease *Lease) { lease.Handoff = nil })
			return errors.Join(fmt.Errorf("owner %s: process %d did not take the lease, which was taken back: %w; try again", w.owner, to.PID, why), err)
		}
		more, _ := pace.Pause(ctx, settle)
		if err != nil || !more {
			err = errors.Join(err, w.lease.Busy())
			err = fmt.Errorf("owner %s: %w: process %d was handed the lease and begins no epoch: %w: %w", w.owner, ErrFenced, to.PID, why, err)
			w.queue.poison(err)
			return err
		}
	}
}
