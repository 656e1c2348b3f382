package store

import "github.com/freehold-dev/freehold/sidecar/internal/document"

const (
	// Format is the format number of sidecars and claims of this release.
	Format = document.Format
	// MaxSidecar is the most bytes of a sidecar.
	MaxSidecar = document.MaxSize
	// MaxDepth is how deep arrays and objects may be nested in a sidecar.
	MaxDepth = document.MaxDepth
)

// DecodeSidecar reads the bytes of a sidecar, and [DecodeForeign] those of one
// that another program may have edited: neither its sum nor its version is
// checked. Errors are [Invalid] or [Newer]; a wrong sum is [Foreign].
var (
	DecodeSidecar = document.Decode
	DecodeForeign = document.DecodeForeign
)
