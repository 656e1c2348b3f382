package cost_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/freehold-dev/freehold/owners/runtime/cost"
	"github.com/freehold-dev/freehold/owners/runtime/runtimetest"
)

// Of more turns than are kept, those that began first are forgotten, for any
// names of their sessions; one that began anew is as young as its last
// beginning.
func TestTheOldestTurnGoesWhenThereAreTooMany(t *testing.T) {
	const most = 256
	dir, log := runtimetest.State(t), filepath.Join(t.TempDir(), "none yet")
	observe := func(session string) {
		t.Helper()
		if err := cost.Observe(t.Context(), dir, log, session, nil); err != nil {
			t.Fatal(err)
		}
	}
	name := func(i int) string { return fmt.Sprintf("S-%03d", 999-i) } // the first has the last name
	for i := range most {
		observe(name(i))
	}
	observe(name(0)) // anew
	observe("A-1")
	observe("A-2")
	turns := view(t, dir).Turns()
	keys, err := turns.Keys()
	if err != nil || len(keys) != most {
		t.Fatalf("%d turns (%v), want %d", len(keys), err, most)
	}
	kept := map[string]bool{}
	for _, key := range keys {
		kept[key] = true
	}
	for session, want := range map[string]bool{name(0): true, name(1): false, name(2): false, name(3): true, name(most - 1): true, "A-1": true, "A-2": true} {
		if kept[session] != want {
			t.Errorf("the turn of %s is kept: %v, want %v", session, kept[session], want)
		}
	}
}
