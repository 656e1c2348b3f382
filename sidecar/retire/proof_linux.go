package retire

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/freehold-dev/freehold/sidecar/internal/failpoint"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/freehold-dev/freehold/sidecar/internal/status"
	"github.com/freehold-dev/freehold/sidecar/store"
	"golang.org/x/sys/unix"
)

// errNotHolder says that the prepared process is there and does not hold the
// lease.
var errNotHolder = errors.New("it does not hold the lease")

// closing is how long a holder that closes its Writer holds the lease after it
// has left the record.
const closing = 100 * time.Millisecond

// compare holds the record against the prepared process, while somebody holds
// the lease. It reports whether the lease became free. Where the record names
// the process, it is known from then on as well as the record knows it. A
// record that names nobody does not stop proofs that need the kernel alone.
func (r *retirement) compare(ctx context.Context) (free bool, err error) {
	recorded := r.lease.Holding()
	switch {
	case recorded.Holder.Identity.PID == 0:
		if free, err := r.free(ctx, closing); free || err != nil {
			return free, err
		}
		if r.Holder.Identity.PIDFD == 0 {
			return false, r.other(r.silence())
		}
	case !r.Is(recorded):
		return false, r.other("the record names " + recorded.String())
	default:
		r.Prepared = &Prepared{Dir: r.Dir, Owner: r.Owner, State: r.State, Holding: recorded}
	}
	if why := r.Holder.Identity.Here(); why != "" {
		return false, r.unjudged(why)
	}
	if recorded.Holder.Identity.PID != 0 {
		r.proof(proofRecord, "behind the fence the record still names %v", r.Holding)
	}
	return false, nil
}

// silence says why the record names nobody.
func (r *retirement) silence() string {
	if r.damage != nil {
		return r.damage.Error()
	}
	return "the record of the lease names nobody"
}

// other returns the error that names the process which holds the lease instead.
func (r *retirement) other(why string) error {
	current := r.lease.Holding()
	pid := r.look.Lease.Holder()
	switch {
	case pid == 0 && (current.Epoch == 0 || r.Is(current)):
		return r.unjudged(why + ", and the process that holds the lease cannot be seen from here")
	case pid != 0 && pid != current.Holder.Identity.PID:
		current = Holding{}
		current.Holder.Identity.PID = pid
		if id, err := process.IdentityOf(pid); err == nil {
			current.Holder.Identity = id
		}
		why += fmt.Sprintf("; the kernel names process %d", pid)
		if r.Holder.Identity.Same(current.Holder.Identity) {
			return r.unjudged(why) // of an epoch that nobody knows
		}
	case pid != 0 && r.Is(current):
		return r.unjudged(fmt.Sprintf("%s, and the lock is in the name of process %d and carried by processes %v", why, pid, r.look.Lease.Inheritors()))
	}
	return r.changed(current, why)
}

func (r *retirement) unjudged(why string) error {
	err := fmt.Errorf("owner %s: %w: a process holds the lease, and nothing proves that it is %v: %s; nothing was signalled", r.Owner, store.NotJudged, r.Holding, why)
	return store.WithRemedy(err, store.By(status.Lease, r.Owner))
}

// pin opens a pidfd: later proofs are of one process, even if another gets its
// number.
func (r *retirement) pin() (err error) {
	if r.process, err = process.Open(r.Holder.Identity.PID); err != nil {
		return err
	}
	r.proof(proofPinned, "a pidfd stands for the process that has the number %d", r.process.PID())
	failpoint.Hit(failpoint.RetireAfterPidfd)
	return nil
}

// prove proves that the pinned process is the prepared one, may be signalled
// and holds the lease. An error that wraps store.ProcessGone says that the prepared
// process has ended.
func (r *retirement) prove() error {
	id, err := r.process.Identity()
	if err != nil {
		return err
	}
	prepared := r.Holder.Identity
	known := agreement(prepared, id)
	switch {
	case !prepared.Same(id):
		return fmt.Errorf("process %d: %w: its number was used again, by another process", prepared.PID, store.ProcessGone)
	case known == "":
		return r.unjudged("neither its start time nor its pidfd can be compared")
	}
	r.proof(proofIdentity, "process %d is the prepared one: boot, PID namespace, %s agree", id.PID, known)
	failpoint.Hit(failpoint.RetireAfterID)
	if err := r.permitted(); err != nil {
		return err
	}
	holds, err := r.look.Lease.HeldBy(r.process)
	switch {
	case errors.Is(err, store.ProcessGone):
		return err
	case err != nil:
		return r.unjudged(err.Error())
	case !holds:
		return fmt.Errorf("process %d: %w", id.PID, errNotHolder)
	}
	r.proof(proofHolding, "process %d holds the lease: a descriptor of it carries the lock, and it was still the same process afterwards", id.PID)
	failpoint.Hit(failpoint.RetireAfterHolding)
	return nil
}

// agreement names the facts on which both agree and which differ between
// processes of one number.
func agreement(a, b process.Identity) string {
	start, pidfd := a.Start != 0 && a.Start == b.Start, a.PIDFD != 0 && a.PIDFD == b.PIDFD
	switch {
	case start && pidfd:
		return "start time and pidfd inode"
	case pidfd:
		return "pidfd inode"
	case start:
		return "start time (this kernel has no pidfd inodes)"
	}
	return ""
}

// permitted refuses the processes that no record may ever get signalled.
func (r *retirement) permitted() error {
	pid := r.process.PID()
	refuse := func(what string) error {
		return fmt.Errorf("owner %s: process %d is %s: %w; stop it by hand if you must", r.Owner, pid, what, store.Protected)
	}
	switch {
	case pid == 1:
		return refuse("the first of its PID namespace")
	case pid == os.Getpid():
		return refuse("the caller itself")
	case process.Ancestor(pid):
		return refuse("an ancestor of the caller, as far as its line of parents can be seen")
	}
	ruid, euid, err := r.process.Users()
	if errors.Is(err, store.ProcessGone) {
		return err
	}
	if me := os.Geteuid(); err != nil || ruid != me || euid != me {
		return refuse("another user's")
	}
	return nil
}

// terminate asks exactly the proved process to end, and waits for it.
func (r *retirement) terminate(ctx context.Context) error {
	if err := r.signal(unix.SIGTERM, proofSignalled); err != nil {
		return err
	}
	failpoint.Hit(failpoint.RetireAfterSignal)
	return r.await(ctx, nil)
}

func (r *retirement) signal(s unix.Signal, code string) error {
	if err := r.process.Signal(s); err != nil {
		return err
	}
	r.acted = true
	r.proof(code, "%s was sent to exactly process %d", unix.SignalName(s), r.process.PID())
	return nil
}

// dying is how long a killed process may take to end at least: it may have much
// to give back.
const dying = 5 * time.Second

// await waits for the end of the process, which was asked to end, and kills it
// if that was allowed. stopErr is the error of a stop command.
func (r *retirement) await(ctx context.Context, stopErr error) error {
	ended, err := r.process.Wait(ctx, r.o.Grace)
	if err == nil && !ended && r.o.Kill && ctx.Err() == nil {
		if err := r.signal(unix.SIGKILL, proofKilled); err != nil && !errors.Is(err, store.ProcessGone) {
			return err
		}
		ended, err = r.process.Wait(ctx, max(r.o.Grace, dying))
	}
	if ended || err != nil {
		return err
	}
	late := fmt.Errorf("owner %s: %w: process %d did not end within %v", r.Owner, store.DeadlinePassed, r.process.PID(), r.o.Grace)
	if how := process.Condition(r.process.PID()); how != "" {
		late = fmt.Errorf("%w: it %s", late, how)
	}
	if !r.o.Kill {
		late = fmt.Errorf("%w; it may still; allow Kill to end it by SIGKILL", late)
	} else {
		late = fmt.Errorf("%w; look at what it does", late)
	}
	for _, more := range []error{stopErr, context.Cause(ctx)} {
		if more != nil {
			late = fmt.Errorf("%w (%w)", late, more)
		}
	}
	return late
}
