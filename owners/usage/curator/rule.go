package curator

import (
	"errors"
	"fmt"
	"time"

	"github.com/freehold-dev/freehold/owners/usage"
	"github.com/freehold-dev/freehold/reader"
)

const (
	// StaleAfter is the time without activity after which a skill is stale.
	StaleAfter = 14 * 24 * time.Hour
	// ArchivedAfter is the time after which a skill is archived.
	ArchivedAfter = 30 * 24 * time.Hour
)

// aheadOfUs is how far an activity may be ahead of now: the tool works while the
// curator looks, and clocks differ a little.
const aheadOfUs = time.Minute

// A record has the facts that the rule needs.
type record struct {
	pinned     bool
	anchor     time.Time // the last activity, else when it was made
	state      usage.SkillsState
	archivedAt time.Time
}

// errNoAnchor is returned for a skill without a known time.
var errNoAnchor = errors.New("no time is known when it was made or last used")

// recordOf reads the facts, or returns an error if one cannot be read: half of
// the facts are not enough to archive a skill.
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

// due returns the state that the skill is to get, the zero state for none, or an
// error with the reason why it stays.
func (r record) due(now time.Time) (to usage.SkillsState, err error) {
	to = byAge(now.Sub(r.anchor))
	switch {
	case r.pinned:
		return usage.SkillsState{}, nil
	case r.anchor.IsZero():
		return usage.SkillsState{}, errNoAnchor
	case r.anchor.After(now.Add(aheadOfUs)):
		// One of the clocks is wrong, and the skill would never become stale.
		return usage.SkillsState{}, fmt.Errorf("its last activity, %s, lies ahead of now, %s: set the clock that is wrong",
			r.anchor.Format(time.RFC3339), now.UTC().Format(time.RFC3339))
	case r.state == usage.SkillsStateArchived() && (r.archivedAt.IsZero() || !r.anchor.After(r.archivedAt)):
		return usage.SkillsState{}, nil // until it is used again
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
