package sidecar

import (
	"errors"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// The errors that a caller may want to tell apart. Every error of this
// package wraps one of them or an error of the operating system, and names
// the file and what to do.
var (
	// ErrBusy is returned if another process held the owner's lock, or an
	// exclusive owner's lease, for longer than the call may wait.
	ErrBusy = store.Busy
	// ErrCannotJudge is returned if nothing proves which process holds a
	// lease, as from another PID namespace. Nothing was signalled.
	ErrCannotJudge = store.NotJudged
	// ErrClosed is returned by an Update on a closed Writer, and on one of which
	// an earlier Update was indeterminate. Nothing was changed.
	ErrClosed = errors.New("the writer is closed: open another")
	// ErrConflict is returned if the sidecar is not at the version that
	// [Tx.IfVersion] asked for, or a key of a map no longer in the
	// incarnation that was meant.
	ErrConflict = store.Conflict
	// ErrDeclaration is returned by Open if the program was built from a
	// declaration that contradicts the state's manifest, and by Update if
	// the state was upgraded to one since. Package upgrade brings a state up
	// to a newer declaration.
	ErrDeclaration = schema.ErrDeclaration
	// ErrDeadline is returned if a process did not end, or did not take a
	// lease that was handed to it, in the time given.
	ErrDeadline = store.DeadlinePassed
	// ErrFenced is returned if this process is no longer the owner's live
	// process.
	ErrFenced = store.Fenced
	// ErrForeign is returned if another hand than Freehold's has edited the
	// sidecar, or if it belongs to another owner or state.
	ErrForeign = store.Foreign
	// ErrGone is returned if a process has ended.
	ErrGone = store.ProcessGone
	// ErrIdentityChanged is returned if another process than the prepared
	// one holds the lease. Nothing was signalled.
	ErrIdentityChanged = store.IdentityChanged
	// ErrIndeterminate is returned if the operating system did not say
	// whether the commit is durable. The Writer refuses further Updates, with
	// [ErrClosed]; open a new one, and ask [Resolve]. It is also returned, and
	// [ErrReplaced] with it, if the state directory was moved away in the middle
	// of the commit, which counts if that is put back.
	ErrIndeterminate = store.Indeterminate
	// ErrInstances is returned if a directory holds the instances of a state
	// and one of them was wanted.
	ErrInstances = store.HasInstances
	// ErrInvalid is returned if the sidecar is not of Freehold's format.
	ErrInvalid = store.Invalid
	// ErrLock is returned if the owner's lock file is missing or replaced.
	ErrLock = store.Lost
	// ErrRejected is returned by [Resolve] if a pending patch could
	// not be folded; a copy of it is in the quarantine.
	ErrRejected = store.Rejected
	// ErrNewer is returned if a newer release deferred a patch. It stays
	// there for that one.
	ErrNewer = store.Newer
	// ErrMisplaced is returned if the directory of an instance holds another
	// one.
	ErrMisplaced = store.Misplaced
	// ErrNoHolder is returned by Prepare if no process is recorded as the
	// holder of the lease.
	ErrNoHolder = store.NoHolder
	// ErrNoLease is returned if an owner is shared, so that there is no lease
	// of it.
	ErrNoLease = store.NoLease
	// ErrNoInstances is returned if an instance was wanted of a state that is
	// declared without any.
	ErrNoInstances = store.NoInstances
	// ErrNoKey is returned if a map has no key such as its owner's part of it
	// was to be written at.
	ErrNoKey = store.NoKey
	// ErrNotObserved is returned if a value that depends on other owners'
	// fields is written with no token of what was seen of them, or with one
	// that does not tell of them.
	ErrNotObserved = store.NotObserved
	// ErrNoState is returned if the directory is not a state directory.
	ErrNoState = store.NoState
	// ErrNotOwner is returned if a field belongs to another owner, or to
	// none, or if the manifest does not know the owner.
	ErrNotOwner = store.NotOwner
	// ErrProtected is returned by Retire for a process that it never
	// signals: the first of a PID namespace, the caller, an ancestor of it,
	// or another user's.
	ErrProtected = store.Protected
	// ErrRegressed is returned if the sidecar is older than what somebody has
	// observed of it or an upgrade of the state has written, is gone since, or
	// has another history: a backup was restored, a volume rolled back, or the
	// file removed.
	ErrRegressed = store.Regressed
	// ErrReplaced is returned if the state directory's path now names
	// another directory.
	ErrReplaced = store.Moved
	// ErrUnreadable is returned if the sidecar is there and cannot be read:
	// permission, input/output, or no plain file.
	ErrUnreadable = store.Unreadable
	// ErrUnsafe is returned if others may write in the state directory.
	ErrUnsafe = store.Unsafe
	// ErrUnsupported is returned on platforms where a promise of the call
	// cannot be kept.
	ErrUnsupported = store.Unsupported
	// ErrValue is returned if a value does not fit its field; the error
	// names the field.
	ErrValue = store.BadValue
)
