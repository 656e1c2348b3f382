// Package curator has the verbs of owner curator, which archives skills that
// nobody uses. The curator decides from a view, moves only the incarnations of
// that view, and does not touch the files of a skill. A commit of the tool or the user
// at the same moment may count only the next time.
package curator

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/freehold-dev/freehold/owners/usage"
	"github.com/freehold-dev/freehold/owners/usage/curator/internal/curatorfile"
	"github.com/freehold-dev/freehold/sidecar"
)

// A Move gives a skill another state.
type Move struct {
	// Skill is one incarnation of a skill.
	Skill sidecar.Ref `json:"skill"`
	// From is the former state; zero if unset.
	From usage.SkillsState `json:"from,omitzero"`
	To   usage.SkillsState `json:"to"`
	// Anchor is the last activity or, without one, when the skill was made.
	Anchor time.Time `json:"anchor"`
}

// A Kept is a skill that keeps its state for a reason.
type Kept struct {
	Skill string `json:"skill"`
	Why   string `json:"why"`
}

// A Plan is a list of moves, to be made now or later.
type Plan struct {
	Moves []Move `json:"moves"`
	Kept  []Kept `json:"kept,omitempty"`
}

// Decide applies the rule to a view. A pinned skill stays. Any other is stale
// [StaleAfter] its last use, view or patch, archived after [ArchivedAfter], and
// active before; without activity the time when it was made counts. An archived
// skill stays archived until it is used again. Decide returns the error of a
// field that cannot be read, and then plans nothing.
func Decide(v usage.View, now time.Time) (Plan, error) {
	var p Plan
	names, err := v.Skills().Keys()
	if err != nil {
		return Plan{}, err
	}
	for _, name := range names {
		r, err := recordOf(v.Skills().Key(name))
		if err != nil {
			return Plan{}, err
		}
		to, why := r.due(now)
		if why != nil {
			p.Kept = append(p.Kept, Kept{name, why.Error()})
			continue
		}
		if to == (usage.SkillsState{}) {
			continue
		}
		ref, err := v.Skills().Ref(name)
		if err != nil {
			return Plan{}, err
		}
		p.Moves = append(p.Moves, Move{ref, r.state, to, r.anchor})
	}
	return p, nil
}

// Propose decides from the present view.
func Propose(ctx context.Context, dir string, now time.Time) (Plan, error) {
	v, err := view(ctx, dir)
	if err != nil {
		return Plan{}, err
	}
	return Decide(v, now)
}

// Curate decides from a view and acts at once. It returns the moves that it
// made, and the skills that it kept.
func Curate(ctx context.Context, dir string, now time.Time, o *sidecar.Options) (Plan, error) {
	p, err := Propose(ctx, dir, now)
	if err != nil {
		return Plan{}, err
	}
	return act(ctx, dir, p, now, o)
}

// Act makes the moves of an earlier plan in one commit. It returns the moves
// that it made, and the skills that it kept: those that the rule no longer
// moves, because they were used, pinned or deleted since. A later skill of the
// same name is another skill, and is not touched.
func Act(ctx context.Context, dir string, p Plan, now time.Time, o *sidecar.Options) (Plan, error) {
	v, err := view(ctx, dir)
	if err != nil {
		return Plan{}, err
	}
	fresh, err := Decide(v, now)
	if err != nil {
		return Plan{}, err
	}
	still := Plan{Kept: fresh.Kept}
	for _, m := range p.Moves {
		i := slices.IndexFunc(fresh.Moves, func(f Move) bool { return f.Skill == m.Skill && f.To == m.To })
		if i >= 0 {
			still.Moves = append(still.Moves, fresh.Moves[i])
			continue
		}
		ref, err := v.Skills().Ref(m.Skill.Key)
		if err != nil && !errors.Is(err, sidecar.ErrNoKey) {
			return Plan{}, err
		}
		still.keep(m, ref, err == nil)
	}
	return act(ctx, dir, still, now, o)
}

// act commits the moves of a plan. Each names its incarnation, so that no move
// touches a skill that the view did not show.
func act(ctx context.Context, dir string, p Plan, now time.Time, o *sidecar.Options) (Plan, error) {
	done := Plan{Kept: p.Kept}
	if len(p.Moves) == 0 {
		return done, nil
	}
	w, err := curatorfile.Open(ctx, dir, o)
	if err != nil {
		return Plan{}, err
	}
	defer w.Close()
	_, err = w.Update(ctx, func(tx curatorfile.Tx) error {
		for _, m := range p.Moves {
			if ref, ok := tx.Skills().Ref(m.Skill.Key); ref != m.Skill {
				done.keep(m, ref, ok) // the other moves count
				continue
			}
			m.apply(tx.Skills().At(m.Skill), now)
			done.Moves = append(done.Moves, m)
		}
		return nil
	})
	if err != nil {
		return Plan{}, err
	}
	return done, nil
}

func (m Move) apply(e curatorfile.SkillsEntry, now time.Time) {
	e.State().Set(m.To)
	if m.To == usage.SkillsStateArchived() {
		e.ArchivedAt().Set(now)
	} else {
		e.ArchivedAt().Clear()
	}
}

// keep adds a skill that was not moved; ref is the skill at its key now, if one
// exists.
func (p *Plan) keep(m Move, ref sidecar.Ref, exists bool) {
	why := "the rule no longer moves it: it was used or pinned since, or moved already"
	switch {
	case !exists:
		why = "it was deleted since"
	case ref != m.Skill:
		why = "it was deleted since, and its name belongs to another one now"
	}
	p.Kept = append(p.Kept, Kept{m.Skill.Key, why})
}

func view(ctx context.Context, dir string) (usage.View, error) {
	r, err := usage.Open(dir)
	if err != nil {
		return usage.View{}, err
	}
	defer r.Close()
	return r.View(ctx)
}
