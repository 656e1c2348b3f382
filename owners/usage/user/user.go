// Package user holds the verbs of owner user: what the person whose agent it is
// may say about its skills. It changes no other owner's fields, and could not.
package user

import (
	"context"

	"github.com/freehold-dev/freehold/owners/usage/user/internal/userfile"
	"github.com/freehold-dev/freehold/sidecar"
)

// Pin says whether the curator must leave a skill alone. A skill of the same
// name that comes later is not pinned. It returns an error that wraps
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
