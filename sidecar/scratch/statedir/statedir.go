// Package statedir gives tests outside sidecar a state directory with all its
// locks, to damage states by hand. It is for Freehold's own tests and promises
// nothing to others.
package statedir

import (
	"github.com/freehold-dev/freehold/sidecar/internal/failpoint"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
)

// The bounds of the files that are read of a directory of pending patches.
const (
	MostPending      = statedir.MostPending
	MostPendingBytes = statedir.MostPendingBytes
)

// A Lock is a kernel lock on one lock file of a state.
type Lock = statedir.Lock

// The functions that open a state directory and name a process.
var (
	Open         = statedir.Open
	OpenInstance = statedir.OpenInstance
	NewNonce     = process.NewNonce
	Self         = process.Self
	Condition    = process.Condition
)

// OnPatchesRead makes f run between the two readings of each owner: the pending
// patches are read, the sidecar is not. No goroutine may read at the moment.
func OnPatchesRead(f func()) { failpoint.PatchesRead = f }
