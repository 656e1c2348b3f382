// Package whole comes by what every owner has through the packages that handle
// a state as a whole.
package whole

import (
	"context"

	"github.com/freehold-dev/freehold/sidecar/adopt"
	"github.com/freehold-dev/freehold/sidecar/upgrade"
)

func Fill(ctx context.Context, dir string) error {
	p, err := adopt.Parse("made.json", []byte(`{"turns":7}`))
	if err != nil {
		return err
	}
	return p.Apply(ctx, dir) // want `adopt.Apply writes past the owner's writer package`
}

func Move(ctx context.Context, dir string) error {
	return upgrade.Run(ctx, dir) // want `upgrade.Run writes past the owner's writer package`
}
