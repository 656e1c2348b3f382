// Package launder names no writer package, and has room for its handles.
package launder

import (
	"context"

	"github.com/freehold-dev/freehold/sidecar"
)

type Tx interface {
	Turns() sidecar.Value[uint64] // want `launder.Tx.Turns mentions sidecar.Value, so importers of m/launder can come by a handle to write with`
}

func Record(ctx context.Context, o *sidecar.Options) (sidecar.Commit, error) {
	return sidecar.Commit{}, nil
}
