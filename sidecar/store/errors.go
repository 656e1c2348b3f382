package store

import "errors"

// A WritableError wraps [ErrUnsafe]: others may write in a directory.
type WritableError struct {
	// Path of the directory, which is the state's or one above it.
	Path string
	err  error
}

// Error says what is wrong and what to do.
func (e *WritableError) Error() string { return e.err.Error() }

// Unwrap returns an error that wraps ErrUnsafe.
func (e *WritableError) Unwrap() error { return e.err }

var (
	// ErrNoState is returned if a directory is not a state directory.
	ErrNoState = errors.New("not a state directory")
	// ErrExists is returned by [Create] if the directory is one already.
	ErrExists = errors.New("already a state directory")
	// ErrReplaced is returned if the path of an open state directory now
	// names another directory, or none. What would be written then would
	// go where nobody looks.
	ErrReplaced = errors.New("the state directory was moved or replaced")
	// ErrUnsafe is returned if others may write in a directory, or if it is
	// on a file system without locks that all its users see.
	ErrUnsafe = errors.New("the state directory is not safe to use")
	// ErrIrregular is returned if a file of the state is no regular file or
	// has a second name.
	ErrIrregular = errors.New("not a plain file")
	// ErrTooLarge is returned if a file of the state is larger than it may be.
	ErrTooLarge = errors.New("file too large")
	// ErrBusy is returned if a lock was not to be had in time.
	ErrBusy = errors.New("busy")
	// ErrLock is returned if a lock file is missing or is not the one that
	// was made with the state; two processes could then both hold "the"
	// lock. `freehold state repair` makes it anew when nobody uses the state.
	ErrLock = errors.New("lock file missing or replaced")
	// ErrPending is returned if the directory of the pending patches is
	// missing or is another one.
	ErrPending = errors.New("the directory of pending patches is lost")
	// ErrFlooded is returned if the directory of the pending patches holds
	// more than Freehold ever puts there.
	ErrFlooded = errors.New("the directory of pending patches is flooded")
	// ErrClaims is returned if the directory of an owner's claims is missing
	// or is not the one that was made with the state: what was claimed may be
	// lost, so that nobody wins and nothing reads as unset.
	// `freehold state repair` takes what is there.
	ErrClaims = errors.New("directory of claims missing or replaced")
	// ErrGone is returned if a process has ended.
	ErrGone = errors.New("the process has ended")
	// ErrInvalidManifest is returned if the manifest is missing or is not one.
	ErrInvalidManifest = errors.New("invalid manifest")
	// ErrInstances is returned if a directory holds the instances of a state
	// and one of them was wanted.
	ErrInstances = errors.New("not one state but its instances")
	// ErrNoInstances is returned if an instance was wanted of a state that is
	// declared without any.
	ErrNoInstances = errors.New("a state without instances")
	// ErrMisplaced is returned if the directory of an instance holds another
	// one, or none.
	ErrMisplaced = errors.New("not the instance that belongs there")
	// ErrUnsupported is returned on platforms where the promises of this
	// package cannot be kept.
	ErrUnsupported = errors.New("not supported on this platform")
)
