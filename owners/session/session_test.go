package session_test

import (
	"testing"

	"github.com/freehold-dev/freehold/owners/session"
	"github.com/freehold-dev/freehold/owners/session/sessiontest"
)

// due is the hook's rule: an item is put into the session if it never was, or
// if more than every turns have passed since.
func due(v session.View, item string, every uint64) (bool, error) {
	turn, err := v.Turn().OrUnset(0)
	if err != nil {
		return false, err
	}
	known, err := v.Seen().Has(item)
	if err != nil || !known {
		return !known, err
	}
	last, err := v.Seen().Key(item).Get()
	return every > 0 && turn-last > every, err
}

func TestAnItemIsDueAfterItsTurns(t *testing.T) {
	v := sessiontest.View(t, sessiontest.Turn(17), sessiontest.Turn(16), sessiontest.Seen("fact:1", 13), sessiontest.Seen("rule:1", 14), sessiontest.Seen("rule:1", 3))
	for item, want := range map[string]bool{"fact:1": true, "rule:1": false, "episode:1": true} {
		if got, err := due(v, item, 3); got != want || err != nil {
			t.Errorf("%s is due: %v, want %v (%v)", item, got, want, err)
		}
	}
}
