package main

import (
	"errors"

	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/schema/declare"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/adopt"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// The exit statuses. There is no 2: the hook runners of agents read it as
// "block".
const (
	exitDone          = 0
	exitNegative      = 1  // a negative answer: unset, stale, a lost claim, drift, findings
	exitState         = 3  // the state on disk is invalid, foreign, regressed or unreadable
	exitOwner         = 4  // not the owner, undeclared, fenced or conflict
	exitBusy          = 5  // busy past the deadline
	exitIdentity      = 6  // another process than was meant, or nobody can judge
	exitIO            = 7  // input or output failed; nothing changed
	exitIndeterminate = 8  // the operating system left it open
	exitGone          = 9  // the process that was meant has gone already
	exitUsage         = 64 // misused; also a bad declaration, a bad value, no state
)

var (
	// errNegative is wrapped by an error that is a negative answer.
	errNegative = errors.New("no")
	// errUsage is wrapped by an error that comes from how the command was
	// called.
	errUsage = errors.New("misused")
)

// statuses gives the exit status of each error. The first that fits counts,
// so what a caller must not miss stands before what is true as well.
var statuses = []struct {
	err    error
	status int
}{
	{sidecar.ErrIndeterminate, exitIndeterminate},
	{sidecar.ErrFenced, exitOwner},
	{sidecar.ErrIdentityChanged, exitIdentity},
	{sidecar.ErrCannotJudge, exitIdentity},
	{sidecar.ErrProtected, exitOwner},
	{sidecar.ErrDeadline, exitBusy},
	{sidecar.ErrBusy, exitBusy},
	{sidecar.ErrForeign, exitState},
	{sidecar.ErrInvalid, exitState},
	{sidecar.ErrUnreadable, exitState},
	{sidecar.ErrRegressed, exitState},
	{sidecar.ErrLock, exitState},
	{sidecar.ErrClaims, exitState},
	{sidecar.ErrUnsafe, exitState},
	{sidecar.ErrReplaced, exitState},
	{sidecar.ErrMisplaced, exitState},
	{store.ErrInvalidManifest, exitState},
	{store.ErrIrregular, exitState},
	{store.ErrTooLarge, exitState},
	{sidecar.ErrLeaseRecord, exitState},
	{store.ErrFlooded, exitState},
	{sidecar.ErrNewer, exitState},
	{sidecar.ErrRejected, exitNegative},
	{sidecar.ErrNoHolder, exitGone},
	{sidecar.ErrGone, exitGone},
	{adopt.ErrActive, exitBusy},
	{sidecar.ErrDeclaration, exitOwner},
	{sidecar.ErrNotOwner, exitOwner},
	{sidecar.ErrConflict, exitOwner},
	{sidecar.ErrNotOpen, exitOwner},
	{reader.ErrUnknownField, exitOwner},
	{sidecar.ErrClosed, exitIO}, // an earlier commit of the same call was indeterminate
	{sidecar.ErrUnknown, exitNegative},
	{reader.ErrUnset, exitNegative},
	{sidecar.ErrNoKey, exitOwner}, // in a write; what reads says unset too
	{errNegative, exitNegative},
	{errUsage, exitUsage},
	{schema.ErrUnsound, exitUsage},
	{sidecar.ErrNoLease, exitUsage},
	{sidecar.ErrNoState, exitUsage},
	{sidecar.ErrInstance, exitUsage},
	{sidecar.ErrInstances, exitUsage},
	{sidecar.ErrNoInstances, exitUsage},
	{sidecar.ErrNotObserved, exitUsage},
	{sidecar.ErrValue, exitUsage},
	{store.Exists, exitUsage},
	{sidecar.ErrUnsupported, exitUsage},
}

// exitStatus returns the exit status for the error that a command ended with.
// An error that the table does not have is the operating system's.
func exitStatus(err error) int {
	if err == nil {
		return exitDone
	}
	if v, ok := errors.AsType[verdict](err); ok {
		return v.status
	}
	for _, s := range statuses {
		if errors.Is(err, s.err) {
			return s.status
		}
	}
	if _, ok := errors.AsType[declare.Problems](err); ok {
		return exitUsage
	}
	if _, ok := errors.AsType[adopt.Misfits](err); ok {
		return exitUsage
	}
	return exitIO
}

// classed is an error of a kind that decides the exit status and that its own
// words do not mention.
type classed struct {
	error
	kind error
}

func (c classed) Unwrap() []error { return []error{c.error, c.kind} }

// A verdict ends a command with a status of its own, such as that of another
// program. If it says nothing, all was said.
type verdict struct {
	status int
	says   string
}

func (v verdict) Error() string { return v.says }
