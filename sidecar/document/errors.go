package document

import (
	"fmt"

	"github.com/freehold-dev/freehold/sidecar/internal/status"
)

var (
	// ErrInvalid is wrapped by every error that says that bytes are not a
	// sidecar: a [*SyntaxError] names the byte, a [*FormatError] the release.
	ErrInvalid = status.Invalid

	// ErrForeign is returned for bytes that have the shape of a sidecar but
	// were not written by Freehold, or not for this owner and this state.
	ErrForeign = status.Foreign
)

// A SyntaxError says which byte of a file makes it no sidecar. It wraps
// [ErrInvalid].
type SyntaxError struct {
	// Offset counts bytes from the beginning of the file, from zero.
	Offset int64
	// What stands there and what should.
	What string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("byte %d: %s", e.Offset, e.What) }

// Unwrap returns [ErrInvalid].
func (e *SyntaxError) Unwrap() error { return ErrInvalid }

// A FormatError says that a newer release wrote the file. It wraps
// [ErrInvalid].
type FormatError struct {
	// Found is the file's format number in its own digits.
	Found string
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("the file has format %s and this release reads format %d: use the release that wrote it", e.Found, Format)
}

// Unwrap returns [ErrInvalid].
func (e *FormatError) Unwrap() error { return ErrInvalid }
