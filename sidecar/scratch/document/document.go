// Package document gives tests outside sidecar the bytes of sidecars, to make
// states by hand. It is for Freehold's own tests and promises nothing to others.
package document

import (
	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/freehold-dev/freehold/sidecar/internal/pending"
)

// The limits of a sidecar, of a claim and of a pending patch.
const (
	MaxSize    = document.MaxSize
	MaxClaim   = document.MaxClaim
	MaxRecent  = document.MaxRecent
	SureRecent = document.SureRecent
	MaxPatch   = pending.MaxSize
)

// The parts of a sidecar.
type (
	Claim       = document.Claim
	Document    = document.Document
	Observation = document.Observation
	Provenance  = document.Provenance
	Row         = document.Row
	Version     = document.Version
	Writer      = document.Writer
	SyntaxError = document.SyntaxError
)

// The functions that read and make sidecars, claims and pending patches.
var (
	New           = document.New
	Decode        = document.Decode
	DecodeForeign = document.DecodeForeign
	DecodeClaim   = document.DecodeClaim
	DecodePatch   = pending.Decode
)
