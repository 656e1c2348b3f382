// Package reset holds the verbs of owner reset: what the hooks that compact or
// clear the agent's context may do to the state. It changes no other owner's
// fields, and could not.
package reset

import (
	"context"
	"time"

	"github.com/freehold-dev/freehold/owners/runtime/reset/internal/resetfile"
	"github.com/freehold-dev/freehold/sidecar"
)

// Stamp records in the state directory dir that the context was compacted or
// cleared at the instant at, and whether the next session start must load it
// again. Of several stamps the latest counts, whatever their order.
func Stamp(ctx context.Context, dir string, at time.Time, cleared bool, o *sidecar.Options) (sidecar.Commit, error) {
	w, err := resetfile.Open(ctx, dir, o)
	if err != nil {
		return sidecar.Commit{}, err
	}
	defer w.Close()
	return w.Update(ctx, func(tx resetfile.Tx) error {
		tx.LastContextResetAt().Raise(at)
		tx.ContextCleared().Set(cleared)
		return nil
	})
}
