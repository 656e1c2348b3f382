package sidecar

import (
	"github.com/freehold-dev/freehold/sidecar/internal/apply"
	"github.com/freehold-dev/freehold/sidecar/internal/pending"
)

// Operations as data, for commands and for pending patches.
type (
	// An Op is one operation on one field.
	Op = apply.Op
	// A Patch is the operations of one commit, in order.
	Patch = apply.Patch
	// A Change is the effect of one Update on one value.
	Change = apply.Change
	// A Seen is a token of the versions that somebody had seen of some fields.
	Seen = apply.Seen
	// An EventToken names one beginning of an event.
	EventToken = apply.EventToken
)

// invalid wraps ErrValue around the fault of an operation; nil stays nil.
func invalid(err error) error { return apply.Invalid(err) }

// Bounds of an owner's pending patches. A commit that would exceed them gets
// [ErrBusy] and changes nothing.
const (
	MaxPending      = pending.Most      // patches at a time
	MaxPendingBytes = pending.MostBytes // bytes of their files together
)
