package retire

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/freehold-dev/freehold/sidecar/internal/failpoint"
	"github.com/freehold-dev/freehold/sidecar/internal/lease"
	"github.com/freehold-dev/freehold/sidecar/internal/lock"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// Run ends the prepared process, and no other, and returns when the lease is
// free and the record names the retired process. It shuts the fence first, so
// that no successor can take the lease meanwhile; successors that a supervisor
// starts wait there, and go on when Run is over, with any result. It sends
// SIGTERM, through the process's pidfd, once it has proved that the process is
// the prepared one and holds the lease. The process may still commit while it
// drains.
//
// The outcome is [Retired], or [AlreadyGone] if the lease was free or the
// process ended in another way before the last look. Else the error wraps
// [store.IdentityChanged] if another process holds the lease; [store.NotJudged]
// if nothing tells which process does; [store.Protected]; or
// [store.DeadlinePassed] if ctx or o.Grace was over first. Nothing was signalled
// then, unless [Retirement.Proofs] say so. If only the record could not be
// written, the error comes with the outcome.
func (p *Prepared) Run(ctx context.Context, o *Options) (Retirement, error) {
	r := newRetiring(p, o)
	return r.run(ctx, r.terminate)
}

// A retirement is a Run under way.
type retirement struct {
	*Prepared
	o       Options
	look    *lease.Locks
	lease   *lease.Record // the record, as read behind the fence
	damage  error         // why there is none
	process *process.Process
	acted   bool // a signal was sent, or the stop command run
	result  Retirement
}

func newRetiring(p *Prepared, o *Options) *retirement {
	r := &retirement{Prepared: p}
	if o != nil {
		r.o = *o
	}
	if r.o.Grace <= 0 {
		r.o.Grace = 10 * time.Second
	}
	r.o.Program = process.ProgramName(r.o.Program)
	return r
}

// A stopper makes the proved process end, and returns when it has.
type stopper func(context.Context) error

func (r *retirement) run(ctx context.Context, stop stopper) (Retirement, error) {
	err := r.check()
	if err == nil {
		failpoint.Hit(failpoint.RetireBeforeFence)
		r.look, err = lease.OpenLocks(r.Dir, r.Owner)
	}
	if err != nil {
		return r.result, err
	}
	defer r.look.Close()
	if err := r.shut(ctx); err != nil {
		return r.result, err
	}
	outcome, err := r.retire(ctx, stop)
	if err != nil {
		return r.result, err
	}
	r.result.Outcome = outcome
	failpoint.Hit(failpoint.RetireAfterLease)
	return r.result, r.conclude(ctx)
}

// retire goes on behind the shut fence, until it holds the lease.
func (r *retirement) retire(ctx context.Context, stop stopper) (Outcome, error) {
	if free, err := r.free(ctx, 0); free || err != nil {
		return AlreadyGone, err
	}
	failpoint.Hit(failpoint.RetireAfterLook)
	if free, err := r.compare(ctx); free || err != nil {
		return AlreadyGone, err
	}
	err := r.pin()
	if err == nil {
		defer r.process.Close()
		err = r.prove()
	}
	if err == nil {
		failpoint.Hit(failpoint.RetireBeforeSignal)
		err = r.last(ctx)
	}
	if err == nil {
		err = stop(ctx)
	}
	if !r.acted && (errors.Is(err, errNotHolder) || errors.Is(err, store.ProcessGone)) {
		return AlreadyGone, r.gone(ctx, err)
	}
	if err != nil {
		return NotRetired, err
	}
	failpoint.Hit(failpoint.RetireAfterExit)
	return r.ended(ctx)
}

// last is the last look before the process is made to end.
func (r *retirement) last(ctx context.Context) error {
	if err := context.Cause(ctx); err != nil {
		return fmt.Errorf("owner %s: %w before anything was sent to process %d: %w; try again", r.Owner, store.DeadlinePassed, r.process.PID(), err)
	}
	return r.process.There()
}

// shut shuts the fence and reads the record behind it: a process that takes the
// lease shares the fence until the record is written.
func (r *retirement) shut(ctx context.Context) error {
	notices := lease.Notices{Looked: time.Now()}
	backoff := lock.NewBackoff(lease.LongestPause)
	for {
		if ok, err := r.look.Fence.Try(); err != nil {
			return err
		} else if ok {
			break
		}
		if r.o.Notice != nil {
			notices.Tell(r.o.Notice, r.look.Fence.Busy)
		}
		if _, err := backoff.Pause(ctx, lock.Forever); err != nil {
			return fmt.Errorf("owner %s: %w before the fence was free (%w): %w", r.Owner, store.DeadlinePassed, err, r.look.Fence.Busy())
		}
	}
	r.proof(proofFence, "the fence is shut: no process can take the lease of owner %s", r.Owner)
	failpoint.Hit(failpoint.RetireAfterFence)
	if id := r.look.Manifest.StateID; r.State != "" && r.State != id {
		return r.changed(Holding{}, fmt.Sprintf("the state was made anew: its id is %s, not %s", id, r.State))
	}
	r.lease, r.damage = lease.Read(r.look.Store, r.Owner, r.look.Manifest.StateID)
	if r.damage != nil {
		r.lease = nil
		if !errors.Is(r.damage, lease.ErrRecord) {
			return r.damage
		}
	}
	failpoint.Hit(failpoint.RetireAfterRecord)
	return nil
}

// settle is how long a lock may take to become free once its holder has ended
// or has closed it: a child between fork and exec has it for an instant.
const settle = time.Second

// free takes the lease, which nobody then holds.
func (r *retirement) free(ctx context.Context, wait time.Duration) (bool, error) {
	err := r.look.Lease.Acquire(ctx, wait)
	if errors.Is(err, store.Busy) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if r.lease != nil && r.Epoch != 0 && r.lease.Epoch > r.Epoch {
		r.proof(proofSuperseded, "epoch %d has begun since, later than %d", r.lease.Epoch, r.Epoch)
	}
	if !r.acted {
		if verdict, why := r.Holder.Identity.Judge(); verdict == process.Gone {
			r.proof(proofGone, "the prepared process has ended: %s", why)
		}
	}
	r.proof(proofFree, "no process holds the lease of owner %s now", r.Owner)
	return true, nil
}

// gone concludes, from an error that says that the prepared process does not
// hold the lease, how that came about.
func (r *retirement) gone(ctx context.Context, why error) error {
	wait := settle
	if pid := r.look.Lease.Holder(); pid != 0 && pid != r.Holder.Identity.PID {
		wait = 0 // the lock is in another's name: it is not going to be free
	}
	if free, err := r.free(ctx, wait); free || err != nil {
		return err
	}
	return r.other(why.Error())
}

// ended concludes once the process has ended.
func (r *retirement) ended(ctx context.Context) (Outcome, error) {
	r.proof(proofExited, "the end of process %d was seen on its pidfd, with the fence shut", r.process.PID())
	free, err := r.free(context.WithoutCancel(ctx), settle)
	if err == nil && !free {
		err = fmt.Errorf("owner %s: %w: process %d has ended, and the lease is still held, by processes %v: they inherited its descriptor; end them", r.Owner, store.DeadlinePassed, r.process.PID(), r.look.Lease.Inheritors())
	}
	return Retired, err
}

// conclude writes the end of the process into the record.
func (r *retirement) conclude(ctx context.Context) error {
	l := r.look
	if err := l.Commit.Acquire(context.WithoutCancel(ctx), max(l.Declared.EffectiveWait(), settle)); err != nil {
		return r.unwritten(err)
	}
	defer l.Commit.Release()
	record, err := lease.ReadForChange(l.Store, r.Owner, l.Manifest.StateID, r.o.Notice)
	if err != nil {
		return r.unwritten(err)
	}
	record.Retire(lease.Retiree{
		Epoch: r.Epoch, Identity: r.Holder.Identity, At: time.Now().UTC(),
		Outcome: r.result.Outcome.String(), By: r.o.Program,
	})
	if _, err := record.Write(l.Store); err != nil {
		return r.unwritten(err)
	}
	r.proof(proofRecorded, "%s says so, durably", statedir.OwnerRecord(r.Owner))
	failpoint.Hit(failpoint.RetireRecorded)
	return nil
}

func (r *retirement) unwritten(err error) error {
	return fmt.Errorf("owner %s: %v is %v, and only the record does not say so: %w", r.Owner, r.Holding, r.result.Outcome, err)
}

func (r *retirement) proof(code, says string, args ...any) {
	r.result.Proofs = append(r.result.Proofs, Proof{code, fmt.Sprintf(says, args...)})
}

// changed returns the error of a lease that current holds instead of the prepared
// process; current is zero if the whole state was made anew.
func (r *retirement) changed(current Holding, why string) error {
	holds := ""
	if current.Holder.Identity.PID != 0 {
		r.result.Current = &current
		holds = fmt.Sprintf(", and %v holds the lease", current)
	}
	return fmt.Errorf("owner %s: %w: %v was to be retired%s: %s; nothing was signalled; prepare again", r.Owner, store.IdentityChanged, r.Holding, holds, why)
}
