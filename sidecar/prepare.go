package sidecar

import (
	"errors"
	"fmt"
	"time"

	"github.com/freehold-dev/freehold/sidecar/internal/process"
)

// Prepared is a process that is to be retired: the one that held a lease when
// [Prepare] looked. It holds nothing open, and may be stored as JSON and used
// later or by another process: [Prepared.Retire] trusts none of it.
type Prepared struct {
	Dir   string `json:"dir"`
	Owner string `json:"owner"`
	// State is the state's id; if empty, any.
	State string `json:"state,omitempty"`
	Holding
}

// A Holding is a process and the epoch that it began with a lease. Of the
// process, what is zero is not known, and fits any; the process id is always
// known. An epoch of zero is not known.
type Holding struct {
	Epoch  uint64 `json:"epoch,omitzero"`
	Holder Holder `json:"holder"`
}

// String returns "process PID of epoch EPOCH".
func (h Holding) String() string {
	if h.Epoch == 0 {
		return fmt.Sprintf("process %d", h.Holder.Identity.PID)
	}
	return fmt.Sprintf("process %d of epoch %d", h.Holder.Identity.PID, h.Epoch)
}

// Prepare reads which process holds the lease of an exclusive owner. It
// returns an error that wraps [ErrNoLease] if the owner is shared, [ErrNoHolder]
// if nobody is recorded, and [ErrLeaseRecord] if the record is damaged.
func Prepare(dir, owner string) (*Prepared, error) {
	l, err := lookUp(dir, owner)
	if err != nil {
		return nil, err
	}
	defer l.close()
	lease, err := readLease(l.dir, owner, l.manifest.StateID)
	if err != nil {
		return nil, fmt.Errorf("owner %s: nobody can be retired by name: %w; name its epoch and its process id", owner, err)
	}
	if lease == nil || lease.Holder == nil {
		return nil, fmt.Errorf("owner %s: %w: no process is recorded as holding its lease: nothing to do", owner, ErrNoHolder)
	}
	return &Prepared{Dir: l.dir.Path(), Owner: owner, State: l.manifest.StateID, Holding: lease.holding()}, nil
}

// holding returns what l says of the holder; the zero Holding if it says
// nothing.
func (l *Lease) holding() Holding {
	if l == nil || l.Holder == nil {
		return Holding{}
	}
	return Holding{l.Epoch, *l.Holder}
}

// is reports whether both can be the same process in the same epoch.
func (h Holding) is(other Holding) bool {
	return h.Holder.Identity.Same(other.Holder.Identity) && (h.Epoch == 0 || h.Epoch == other.Epoch)
}

// RetireOptions of a retirement. The zero value, and a nil pointer, are ready
// to use.
type RetireOptions struct {
	// Grace is how long the process may take to end once it was asked to,
	// and again, but five seconds at least, once it was killed. If zero, ten
	// seconds.
	Grace time.Duration
	// Kill ends a process by SIGKILL that is still there after Grace.
	Kill bool
	// Program is the name under which the record says who retired it. If
	// empty, the base name of the running executable.
	Program string
	// Notice is told who keeps the fence shut, if that takes longer than a
	// second. If nil, nobody is told.
	Notice func(error)
}

// A Retirement is what became of a retirement.
type Retirement struct {
	Outcome RetireOutcome `json:"outcome"`
	// Proofs lists what was established, in order, also when an error ended
	// it.
	Proofs []Proof `json:"proofs"`
}

// A RetireOutcome says how a retirement that did not fail ended.
type RetireOutcome int

// The outcomes of a retirement.
const (
	// NotRetired is the zero outcome, of a retirement that failed.
	NotRetired RetireOutcome = iota
	// Retired: the prepared process was asked to end and ended, while
	// nobody could take its place.
	Retired
	// AlreadyGone: the prepared process no longer held the lease, or it
	// ended in another way than it was asked to.
	AlreadyGone
)

// String returns the outcome as a word.
func (o RetireOutcome) String() string {
	switch o {
	case Retired:
		return "retired"
	case AlreadyGone:
		return "already-gone"
	}
	return "not-retired"
}

// MarshalText implements [encoding.TextMarshaler].
func (o RetireOutcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// A Proof is one thing that a retirement established. Codes are stable.
type Proof struct {
	Code string `json:"code"`
	Says string `json:"says"`
}

// The codes of proofs.
const (
	ProofFence      = "fence_shut"         // the fence is held: nobody can take the lease
	ProofRecord     = "record_unchanged"   // the record names the prepared process still
	ProofPinned     = "process_pinned"     // a pidfd stands for the process
	ProofIdentity   = "identity_verified"  // the pinned process is the prepared one
	ProofHolding    = "lease_held"         // it holds the lease, by the kernel
	ProofSignalled  = "signal_sent"        // SIGTERM went to exactly that process
	ProofStopRun    = "stop_run"           // the caller's stop command has run
	ProofKilled     = "kill_sent"          // SIGKILL went to exactly that process
	ProofExited     = "exit_seen"          // its end was seen while the fence was shut
	ProofGone       = "process_gone"       // it had ended before anything was sent
	ProofSuperseded = "epoch_passed"       // the record speaks of a later epoch
	ProofFree       = "lease_free"         // no process holds the lease now
	ProofRecorded   = "retirement_written" // the record says so, durably
)

// An IdentityChangedError says that another process than the prepared one
// holds the lease. It wraps [ErrIdentityChanged]. Nothing was signalled.
type IdentityChangedError struct {
	Owner string
	// Prepared is the process that was to be retired.
	Prepared Holding
	// Current is the process that holds the lease, as far as known. It is
	// zero if the whole state was made anew.
	Current Holding
	// Why says what differs.
	Why string
}

func (e *IdentityChangedError) Error() string {
	current := ""
	if e.Current.Holder.Identity.PID != 0 {
		current = fmt.Sprintf(", and %v holds the lease", e.Current)
	}
	return fmt.Sprintf("owner %s: %v: %v was to be retired%s: %s; nothing was signalled; prepare again", e.Owner, ErrIdentityChanged, e.Prepared, current, e.Why)
}

// Unwrap returns [ErrIdentityChanged].
func (e *IdentityChangedError) Unwrap() error { return ErrIdentityChanged }

func (p *Prepared) changed(current Holding, why string) error {
	return &IdentityChangedError{Owner: p.Owner, Prepared: p.Holding, Current: current, Why: why}
}

// check refuses a Prepared with which nothing could be compared.
func (p *Prepared) check() error {
	if p.Dir == "" || p.Owner == "" || p.Holder.Identity.PID <= 0 {
		return errors.New("an empty Prepared cannot be retired: take it from Prepare, or name a directory, an owner and a process")
	}
	if p.Epoch == 0 && p.Holder.Identity == (process.Identity{PID: p.Holder.Identity.PID}) {
		return fmt.Errorf("process %d cannot be retired by its number alone, which may be another process's tomorrow: name its epoch too", p.Holder.Identity.PID)
	}
	return nil
}
