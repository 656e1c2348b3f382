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
