package sidecar

import (
	"errors"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// The errors that a caller may want to tell apart. Every error of this
// package wraps one of them or an error of the operating system, and names
// the file and the remedy.
var (
	// ErrBusy is returned if another process held the owner's lock, or an
	// exclusive owner's lease, for longer than the call may wait.
	ErrBusy = store.Busy
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
	// ErrFenced is returned if this process is no longer the owner's live
	// process.
	ErrFenced = store.Fenced
	// ErrIndeterminate is returned if the operating system did not say
	// whether the commit is durable. The Writer refuses further Updates, with
	// [ErrClosed]; open a new one, and ask [Resolve]. It is also returned, and
	// [store.Moved] with it, if the state directory was moved away in the middle
	// of the commit, which counts if that is put back.
	ErrIndeterminate = store.Indeterminate
	// ErrNoKey is returned if a map has no key such as its owner's part of it
	// was to be written at.
	ErrNoKey = store.NoKey
	// ErrNotObserved is returned if a value that depends on other owners'
	// fields is written with no token of what was seen of them, or with one
	// that does not tell of them.
	ErrNotObserved = store.NotObserved
	// ErrNotOwner is returned if a field belongs to another owner, or to
	// none, or if the manifest does not know the owner.
	ErrNotOwner = store.NotOwner
	// ErrValue is returned if a value does not fit its field; the error
	// names the field.
	ErrValue = store.BadValue
)
