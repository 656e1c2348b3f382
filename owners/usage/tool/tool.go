// Package tool has the verb of owner tool, which counts the acts of an agent's
// tools on skills. The tool neither creates nor deletes skills.
package tool

import (
	"context"
	"fmt"
	"time"

	"github.com/freehold-dev/freehold/owners/usage/tool/internal/toolfile"
	"github.com/freehold-dev/freehold/sidecar"
)

// An Act is an act on a skill. Each has a count and the time of the last.
type Act string

// The acts.
const (
	Use   Act = "use"
	View  Act = "view"
	Patch Act = "patch"
)

// Bump counts acts on a skill at the instant at, each in a commit of its own.
// Bump returns the number of acknowledged acts; after an error the others are
// not tried. Of several instants the latest stays, in any order. The error wraps
// [sidecar.ErrNoKey] if there is no such skill. Bump never waits long: while
// another process holds the owner's lock, the count is deferred, and every view
// shows the count all the same.
func Bump(ctx context.Context, dir, skill string, act Act, at time.Time, times uint, o *sidecar.Options) (done uint, err error) {
	w, err := toolfile.Open(ctx, dir, o)
	if err != nil {
		return 0, err
	}
	defer w.Close()
	for done < times {
		if err := bump(ctx, w, skill, act, at); err != nil {
			return done, err
		}
		done++
	}
	return done, nil
}

func bump(ctx context.Context, w *toolfile.Writer, skill string, act Act, at time.Time) error {
	_, err := w.Update(ctx, func(tx toolfile.Tx) error {
		e := tx.Skills().Key(skill)
		switch act {
		case Use:
			e.UseCount().Add(1)
			e.LastUsedAt().Raise(at)
		case View:
			e.ViewCount().Add(1)
			e.LastViewedAt().Raise(at)
		case Patch:
			e.PatchCount().Add(1)
			e.LastPatchedAt().Raise(at)
		default:
			return fmt.Errorf("%w: act %.80q: want use, view or patch", sidecar.ErrValue, act)
		}
		return nil
	})
	return err
}
