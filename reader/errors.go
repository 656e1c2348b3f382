package reader

import "errors"

// A field's error wraps one of the first two, or sidecar.ErrInvalid,
// sidecar.ErrForeign or sidecar.ErrUnreadable if the owner's sidecar cannot be
// used.
var (
	// ErrUnset is returned for a field that its owner never wrote, or
	// cleared. That differs from every value of the field.
	ErrUnset = errors.New("unset")
	// ErrUnknownField is returned for a field that no owner of the state
	// declares.
	ErrUnknownField = errors.New("unknown field")
	// ErrClosed is returned by a Reader that was closed.
	ErrClosed = errors.New("the reader is closed")
)
