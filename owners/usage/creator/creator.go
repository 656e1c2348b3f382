// Package creator has the verbs of owner creator, which decides the keys of the
// map of skills. The members of other owners at a skill vanish with it.
package creator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/freehold-dev/freehold/owners/usage/creator/internal/creatorfile"
	"github.com/freehold-dev/freehold/sidecar"
)

// ErrExists is returned by Create if there is such a skill.
var ErrExists = errors.New("the skill exists")

// Create creates a skill, made by its maker at an instant. The skill has nothing
// of an earlier one of its name. Create returns an error that wraps [ErrExists]
// if there is such a skill.
func Create(ctx context.Context, dir, skill, by string, at time.Time, o *sidecar.Options) (sidecar.Commit, error) {
	return update(ctx, dir, o, func(tx creatorfile.Tx) error {
		if _, ok := tx.Skills().Ref(skill); ok {
			return fmt.Errorf("%w: %q: delete it first, or take another name", ErrExists, skill)
		}
		tx.Skills().Key(skill).CreatedBy().Set(by)
		tx.Skills().Key(skill).CreatedAt().Set(at)
		return nil
	})
}

// Delete deletes a skill. It returns an error that wraps [sidecar.ErrNoKey] if
// there is none.
func Delete(ctx context.Context, dir, skill string, o *sidecar.Options) (sidecar.Commit, error) {
	return update(ctx, dir, o, func(tx creatorfile.Tx) error {
		ref, ok := tx.Skills().Ref(skill)
		if !ok {
			return fmt.Errorf("%w: there is no skill %q: nothing to delete", sidecar.ErrNoKey, skill)
		}
		tx.Skills().DeleteAt(ref)
		return nil
	})
}

func update(ctx context.Context, dir string, o *sidecar.Options, fn func(creatorfile.Tx) error) (sidecar.Commit, error) {
	w, err := creatorfile.Open(ctx, dir, o)
	if err != nil {
		return sidecar.Commit{}, err
	}
	defer w.Close()
	return w.Update(ctx, fn)
}
