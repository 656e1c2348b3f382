package document

import (
	"fmt"

	"github.com/freehold-dev/freehold/sidecar/internal/status"
)

// A SyntaxError names the byte at which a file is not a sidecar or a claim. It
// wraps [status.Invalid].
type SyntaxError struct {
	// Offset counts bytes from the beginning of the file, from zero.
	Offset int64
	// What is wrong there.
	What string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("byte %d: %s", e.Offset, e.What) }

// Unwrap returns [status.Invalid].
func (e *SyntaxError) Unwrap() error { return status.Invalid }

// A formatError says that a later release wrote a file of the format that it
// holds, in the file's own digits.
type formatError string

func (e formatError) Error() string {
	return fmt.Sprintf("the file has format %s and this release reads format %d", string(e), Format)
}

// Unwrap returns [status.Newer].
func (e formatError) Unwrap() error { return status.Newer }
