package reader

import "errors"

// A field's error wraps one of the first two, or store.Invalid,
// store.Foreign, store.Regressed or store.Unreadable if the
// owner's sidecar cannot be used.
var (
	// ErrUnset is returned for a field that its owner never wrote, or
	// cleared. That differs from every value of the field.
	ErrUnset = errors.New("unset")
	// ErrUnknownField is returned for a field that no owner of the state
	// declares.
	ErrUnknownField = errors.New("unknown field")
	// ErrClosed is returned by a Reader that was closed.
	ErrClosed = errors.New("the reader is closed")
	// ErrPolling is yielded by [Reader.Watch] when it gets no notices of
	// changes and looks for them often instead. The watch goes on and misses
	// nothing; it may only be a little later.
	ErrPolling = errors.New("watched by polling")
	// ErrResync is yielded by [Reader.Watch] when notices of changes were
	// lost. The watch goes on: it has read everything again, and what has
	// changed is in the next view.
	ErrResync = errors.New("notices of changes were lost")
)
