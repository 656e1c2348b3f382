// Package retire ends exactly the process that holds the lease of an exclusive
// owner, and no other. It cannot prove which process a service manager's stop
// command ends: see [Prepared.RunWith].
package retire

import (
	"errors"
	"fmt"
	"time"

	"github.com/freehold-dev/freehold/sidecar/internal/lease"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// FenceVariable is the environment variable that tells a stop command which of
// its descriptors is the fence.
const FenceVariable = "FREEHOLD_FENCE_FD"

// Prepared is a process that is to be retired: the one that held a lease when
// [Prepare] looked. It holds nothing open, and may be stored as JSON and used
// later or by another process: [Prepared.Run] trusts none of it.
type Prepared struct {
	Dir   string `json:"dir"`
	Owner string `json:"owner"`
	// State is the state's id; if empty, any.
	State string `json:"state,omitempty"`
	Holding
}

// Prepare reads which process holds the lease of an exclusive owner. It
// returns an error that wraps [store.NoLease] if the owner is shared, [store.NoHolder]
// if nobody is recorded, and [lease.ErrRecord] if the record is damaged.
func Prepare(dir, owner string) (*Prepared, error) {
	l, err := lease.OpenLocks(dir, owner)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	record, err := lease.Read(l.Store, owner, l.Manifest.StateID)
	if err != nil {
		return nil, fmt.Errorf("owner %s: nobody can be retired by name: %w; name its epoch and its process id", owner, err)
	}
	if record == nil || record.Holder == nil {
		return nil, fmt.Errorf("owner %s: %w: no process is recorded as holding its lease: nothing to do", owner, store.NoHolder)
	}
	return &Prepared{Dir: l.Store.Path(), Owner: owner, State: l.Manifest.StateID, Holding: record.Holding()}, nil
}

// Options of a retirement. The zero value, and a nil pointer, are ready
// to use.
type Options struct {
	// Grace is how long the process may take to end once it was asked to,
	// and again, but five seconds at least, once it was killed. If zero, ten
	// seconds.
	Grace time.Duration
	// Kill ends a process by SIGKILL that is still there after Grace.
	Kill bool
	// Program is the retiring program's name in the record. If
	// empty, the base name of the running executable.
	Program string
	// Notice is told which process keeps the fence shut, if that takes longer
	// than a second. If nil, nobody is told.
	Notice func(error)
}

// A Retirement is the result of a retirement.
type Retirement struct {
	Outcome Outcome `json:"outcome"`
	// Proofs lists the established facts, in order, also when an error ended
	// it.
	Proofs []Proof `json:"proofs"`
	// Current is the process that holds the lease instead of the prepared one, after
	// an error that wraps [store.IdentityChanged]; nil if not known.
	Current *Holding `json:"-"`
}

// A Outcome says how a retirement that did not fail ended.
type Outcome int

// The outcomes of a retirement.
const (
	// NotRetired is the zero outcome, of a retirement that failed.
	NotRetired Outcome = iota
	// Retired: the prepared process was asked to end and ended, while
	// nobody could take its place.
	Retired
	// AlreadyGone: the prepared process no longer held the lease, or it
	// ended in another way than it was asked to.
	AlreadyGone
)

// String returns the outcome as a word.
func (o Outcome) String() string {
	switch o {
	case Retired:
		return "retired"
	case AlreadyGone:
		return "already-gone"
	}
	return "not-retired"
}

// MarshalText implements [encoding.TextMarshaler].
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// A Proof is one thing that a retirement established. Codes are stable.
type Proof struct {
	Code string `json:"code"`
	Says string `json:"says"`
}

// The codes of proofs.
const (
	proofFence      = "fence_shut"         // the fence is held: nobody can take the lease
	proofRecord     = "record_unchanged"   // the record names the prepared process still
	proofPinned     = "process_pinned"     // a pidfd stands for the process
	proofIdentity   = "identity_verified"  // the pinned process is the prepared one
	proofHolding    = "lease_held"         // it holds the lease, by the kernel
	proofSignalled  = "signal_sent"        // SIGTERM went to exactly that process
	proofStopRun    = "stop_run"           // the caller's stop command has run
	proofKilled     = "kill_sent"          // SIGKILL went to exactly that process
	proofExited     = "exit_seen"          // its end was seen while the fence was shut
	proofGone       = "process_gone"       // it had ended before anything was sent
	proofSuperseded = "epoch_passed"       // the record speaks of a later epoch
	proofFree       = "lease_free"         // no process holds the lease now
	proofRecorded   = "retirement_written" // the record says so, durably
)

// A Holding is a process and the epoch that it began with a lease.
type Holding = lease.Holding

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
