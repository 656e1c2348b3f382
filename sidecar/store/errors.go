package store

import "errors"

// A WritableError wraps [Unsafe]: others may write in a directory.
type WritableError struct {
	// Path of the directory, which is the state's or one above it.
	Path string
	err  error
}

// Error names the directory and its mode.
func (e *WritableError) Error() string { return e.err.Error() }

// Unwrap returns an error that wraps Unsafe.
func (e *WritableError) Unwrap() error { return e.err }

// Former names of statuses.
const (
	ErrNoState     = NoState
	ErrExists      = Exists
	ErrReplaced    = Moved
	ErrUnsafe      = Unsafe
	ErrBusy        = Busy
	ErrLock        = Lost
	ErrPending     = Lost
	ErrClaims      = Lost
	ErrGone        = ProcessGone
	ErrInstances   = HasInstances
	ErrNoInstances = NoInstances
	ErrMisplaced   = Misplaced
	ErrUnsupported = Unsupported
)

var (
	// ErrIrregular is the cause if a file of the state is no regular file or
	// has a second name.
	ErrIrregular = errors.New("not a plain file")
	// ErrTooLarge is the cause if a file of the state is larger than it may be.
	ErrTooLarge = errors.New("file too large")
	// ErrFlooded is the cause if the directory of the pending patches holds
	// more than Freehold ever puts there.
	ErrFlooded = errors.New("the directory of pending patches is flooded")
	// ErrInvalidManifest is wrapped by every error that says that the manifest
	// is missing or is not one.
	ErrInvalidManifest = errors.New("invalid manifest")
)

// fault returns an [Error] about path.
func fault(s Status, path string, r Remedy, err error) error {
	return &Error{Status: s, Path: path, Remedy: r, Err: err}
}

// byHand returns the remedy that a person carries out.
func byHand(note string) Remedy { return Remedy{Note: note} }
