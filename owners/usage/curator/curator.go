// Package curator holds the verbs of owner curator, which puts skills away that
// nobody uses: it decides from a view, and acts only on the very skills that it
// saw there. It does not touch the files of a skill, and what the tool or the
// user commits in the same moment it may see only the next time.
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
	// Skill is one incarnation of a skill, and no other of the same name.
	Skill sidecar.Ref `json:"skill"`
	// From is the state that it had; zero if none.
	From usage.SkillsState `json:"from,omitzero"`
	To   usage.SkillsState `json:"to"`
	// Anchor is the last activity, or when the skill was made if there was
	// none.
	Anchor time.Time `json:"anchor"`
}

// A Kept is a skill whose state was left as it is, and why.
type Kept struct {
	Skill string `json:"skill"`
	Why   string `json:"why"`
}

// A Plan is what is to be done. It can be kept and acted upon later.
type Plan struct {
	Moves []Move `json:"moves"`
	Kept  []Kept `json:"kept,omitempty"`
}

// Decide applies the rule to a view. A pinned skill is left alone. Any other is
// stale when nobody has used, viewed or patched it for [StaleAfter], archived
// after [ArchivedAfter], and active before; where there was no activity, the
// time when it was made counts. An archived one stays so until it is used
// again. It returns the error of a field that cannot be read: then nothing is
// planned.
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

// Curate decides from a view and acts at once. It returns what it did and what
// it did not.
func Curate(ctx context.Context, dir string, now time.Time, o *sidecar.Options) (Plan, error) {
	v, err := view(ctx, dir)
	if err != nil {
		return Plan{}, err
	}
	p, err := Decide(v, now)
	if err != nil {
		return Plan{}, err
	}
	return act(ctx, dir, p, now, o)
}

// Act does what a plan says that was made before, in one commit, and returns
// what it did and what it did not. It leaves out a skill that the rule does not
// move any more, because it was used, pinned or deleted since; one of the same
// name that has come since is another skill, and is not touched.
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

// act commits the moves of a plan. Every one of them names its incarnation, so
// that what happens between the view and the commit is never held against a
// skill that the view did not show.
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
				done.keep(m, ref, ok) // the others need not wait for it
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

// keep notes that a move was not made; ref is what has its key now, if anything
// has.
func (p *Plan) keep(m Move, ref sidecar.Ref, exists bool) {
	why := "the rule does not move it any more: it was used or pinned since, or moved already"
	switch {
	case !exists:
		why = "it was deleted since"
	case ref != m.Skill:
		why = "it was deleted since, and what has its name now is another one"
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
