package curator

import (
	"errors"
	"fmt"
	"time"

	"github.com/freehold-dev/freehold/owners/usage"
	"github.com/freehold-dev/freehold/reader"
)

const (
	// StaleAfter is how long nobody must have touched a skill for it to be
	// stale.
	StaleAfter = 14 * 24 * time.Hour
	// ArchivedAfter is how long for it to be archived.
	ArchivedAfter = 30 * 24 * time.Hour
)

// aheadOfUs is how far an activity may lie ahead of now without a reason: the tool
// goes on while the curator looks, and clocks differ a little.
const aheadOfUs = time.Minute

// A record is what the rule goes by.
type record struct {
	pinned     bool
	anchor     time.Time // the last activity, else when it was made
	state      usage.SkillsState
	archivedAt time.Time
}

// errNoAnchor is returned for a skill of which no time is known.
var errNoAnchor = errors.New("nobody knows when it was made or last used")

// recordOf reads what the rule needs. Any value but an unset one that cannot be
// had is an error: the curator puts nothing away on half of the facts.
func recordOf(e usage.SkillsEntry) (r record, err error) {
	if r.pinned, err = e.Pinned().OrUnset(false); err != nil {
		return r, err
	}
	if r.state, err = e.State().OrUnset(usage.SkillsState{}); err != nil {
		return r, err
	}
	if r.archivedAt, err = e.ArchivedAt().OrUnset(time.Time{}); err != nil {
		return r, err
	}
	r.anchor, err = anchor(e)
	return r, err
}

func anchor(e usage.SkillsEntry) (latest time.Time, err error) {
	for _, f := range []reader.Field[time.Time]{e.LastUsedAt(), e.LastViewedAt(), e.LastPatchedAt()} {
		at, err := f.OrUnset(time.Time{})
		if err != nil {
			return at, err
		}
		if at.After(latest) {
			latest = at
		}
	}
	if !latest.IsZero() {
		return latest, nil
	}
	return e.CreatedAt().OrUnset(time.Time{})
}

// due returns the state that the skill is to have, or why it keeps the one it
// has. The zero state means that nothing is to be done.
func (r record) due(now time.Time) (to usage.SkillsState, err error) {
	to = byAge(now.Sub(r.anchor))
	switch {
	case r.pinned:
		return usage.SkillsState{}, nil
	case r.anchor.IsZero():
		return usage.SkillsState{}, errNoAnchor
	case r.anchor.After(now.Add(aheadOfUs)):
		// Its clock or this one is wrong. It would never become stale.
		return usage.SkillsState{}, fmt.Errorf("its last activity, %s, lies ahead of now, %s: set the clock that is wrong",
			r.anchor.Format(time.RFC3339), now.UTC().Format(time.RFC3339))
	case r.state == usage.SkillsStateArchived() && (r.archivedAt.IsZero() || !r.anchor.After(r.archivedAt)):
		return usage.SkillsState{}, nil // put away is put away, until it is used again
	case r.state == to:
		return usage.SkillsState{}, nil
	}
	return to, nil
}

func byAge(age time.Duration) usage.SkillsState {
	switch {
	case age >= ArchivedAfter:
		return usage.SkillsStateArchived()
	case age >= StaleAfter:
		return usage.SkillsStateStale()
	}
	return usage.SkillsStateActive()
}
