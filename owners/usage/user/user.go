// Package user has the verb of owner user, for the person with the agent.
// The package cannot change other owners' fields.
package user

import (
	"context"

	"github.com/freehold-dev/freehold/owners/usage/user/internal/userfile"
	"github.com/freehold-dev/freehold/sidecar"
)

// Pin keeps the curator from moving a skill, or no longer if pinned is false. A
// later skill of the same name is not pinned. Pin returns an error that wraps
// [sidecar.ErrNoKey] if there is no such skill.
func Pin(ctx context.Context, dir, skill string, pinned bool, o *sidecar.Options) (sidecar.Commit, error) {
	w, err := userfile.Open(ctx, dir, o)
	if err != nil {
		return sidecar.Commit{}, err
	}
	defer w.Close()
	return w.Update(ctx, func(tx userfile.Tx) error {
		tx.Skills().Key(skill).Pinned().Set(pinned)
		return nil
	})
}
