package failure

import (
	"errors"

	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// The exit statuses. There is no 2: the hook runners of agents read 2 as "block".
const (
	ExitDone          = 0
	ExitNegative      = 1
	ExitState         = 3
	ExitOwner         = 4
	ExitBusy          = 5
	ExitIdentity      = 6
	ExitIO            = 7
	ExitIndeterminate = 8
	ExitGone          = 9
	ExitUsage         = 64
)

// Statuses are the exit statuses and their meanings, in order.
var Statuses = []struct {
	Status  int
	Meaning string
}{
	{ExitDone, "done; also deferred"},
	{ExitNegative, "a negative answer: unset, stale, a lost claim, drift, findings"},
	{ExitState, "the state on disk is invalid, foreign, regressed, newer, lost, unsafe or unreadable"},
	{ExitOwner, "not the owner, undeclared, fenced or a conflict"},
	{ExitBusy, "busy past the deadline"},
	{ExitIdentity, "another process holds the lease, or nothing proves which"},
	{ExitIO, "input or output failed; nothing changed"},
	{ExitIndeterminate, "the operating system left the outcome open"},
	{ExitGone, "the process has ended already"},
	{ExitUsage, "misused; also a bad declaration, a bad value, no state"},
}

// ranks give the exit status of each kind of error. The first kind that an error
// wraps counts: an outcome that a caller must not miss stands above others that
// are true as well.
var ranks = []struct {
	exit  int
	kinds []error
}{
	{ExitIndeterminate, []error{store.Indeterminate}},
	{ExitOwner, []error{store.Fenced}},
	{ExitIdentity, []error{store.IdentityChanged, store.NotJudged}},
	{ExitOwner, []error{store.Protected}},
	{ExitBusy, []error{store.DeadlinePassed, store.Busy}},
	{ExitState, []error{store.Foreign, store.Invalid, store.Unreadable, store.Regressed, store.Lost, store.Unsafe, store.Moved, store.Misplaced,
		store.DamagedRecord, store.Newer, store.ErrInvalidManifest, store.ErrIrregular, store.ErrTooLarge, store.ErrFlooded}},
	{ExitNegative, []error{store.Rejected}},
	{ExitGone, []error{store.NoHolder, store.ProcessGone}},
	{ExitOwner, []error{store.BadDeclaration, schema.ErrDeclaration, store.NotOwner, store.Conflict, store.NotOpen, reader.ErrUnknownField}},
	{ExitIO, []error{sidecar.ErrClosed, reader.ErrClosed}}, // an earlier commit of the same call was indeterminate
	{ExitNegative, []error{store.Unknown, reader.ErrUnset}},
	{ExitOwner, []error{store.NoKey}}, // in a write; a read says unset too
	{ExitNegative, []error{Negative}},
	{ExitUsage, []error{Misused, schema.ErrUnsound, store.NoLease, store.NoState, schema.ErrInstance, store.HasInstances, store.NoInstances,
		store.NotObserved, store.NoAncestor, store.BadValue, store.Exists, store.Unsupported}},
}

// Status returns the exit status for the error that a command ended with. It
// returns [ExitIO] and false for an error of no kind that it knows: most likely
// the operating system's.
func Status(err error) (exit int, known bool) {
	if err == nil {
		return ExitDone, true
	}
	if v, ok := errors.AsType[Verdict](err); ok {
		return v.Status, true
	}
	for _, r := range ranks {
		for _, kind := range r.kinds {
			if errors.Is(err, kind) {
				return r.exit, true
			}
		}
	}
	return ExitIO, false
}
