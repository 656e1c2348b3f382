// Package tool holds the verbs of owner tool: how the tool by which an agent
// uses its skills counts what it does with them. It neither makes skills nor
// takes them away.
package tool

import (
	"context"
	"fmt"
	"time"

	"github.com/freehold-dev/freehold/owners/usage/tool/internal/toolfile"
	"github.com/freehold-dev/freehold/sidecar"
)

// An Act is what is done with a skill. The zero Act is none.
type Act int

// The acts, each of which has a count and the time of the last.
const (
	Use Act = iota + 1
	View
	Patch
)

var acts = map[Act]string{Use: "use", View: "view", Patch: "patch"}

// String returns the act's name, or "" for none.
func (a Act) String() string { return acts[a] }

// MarshalText implements [encoding.TextMarshaler] with the text of String.
func (a Act) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler]. The text of no act is an
// error.
func (a *Act) UnmarshalText(text []byte) error {
	for act, name := range acts {
		if name == string(text) {
			*a = act
			return nil
		}
	}
	return fmt.Errorf("want use, view or patch, not %.80q", text)
}

// Bump counts one act on a skill at the instant at. Of several instants the
// latest stays, whatever their order. It returns an error that wraps
// [sidecar.ErrNoKey] if there is no such skill. It never waits long: while
// another process holds the owner's lock, the count is deferred, and every
// view shows it all the same.
func Bump(ctx context.Context, dir, skill string, act Act, at time.Time, o *sidecar.Options) (sidecar.Commit, error) {
	w, err := toolfile.Open(ctx, dir, o)
	if err != nil {
		return sidecar.Commit{}, err
	}
	defer w.Close()
	return bump(ctx, w, skill, act, at)
}

// BumpEach is Bump, times times, each of which is a commit of its own. It
// returns how many of them were acknowledged; after an error the others are not
// tried.
func BumpEach(ctx context.Context, dir, skill string, act Act, at time.Time, times uint, o *sidecar.Options) (done uint, err error) {
	w, err := toolfile.Open(ctx, dir, o)
	if err != nil {
		return 0, err
	}
	defer w.Close()
	for done < times {
		if _, err := bump(ctx, w, skill, act, at); err != nil {
			return done, err
		}
		done++
	}
	return done, nil
}

func bump(ctx context.Context, w *toolfile.Writer, skill string, act Act, at time.Time) (sidecar.Commit, error) {
	return w.Update(ctx, func(tx toolfile.Tx) error {
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
			return fmt.Errorf("%w: %d is no act: give Use, View or Patch", sidecar.ErrValue, act)
		}
		return nil
	})
}
