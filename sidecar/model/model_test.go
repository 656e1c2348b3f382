package model

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A bound is a check of a model as it is, and how many states it has at least:
// fewer would mean that the model does not do what it seems to.
type bound struct {
	run
	states int
}

// bounds are small, each with another choice of what happens.
var bounds = []bound{
	{run{"lease.pml", "REPAIRS=0 LOSSES=0 COMMITS=1"}, 90_000},
	{run{"lease.pml", "FENCES=0 COMMITS=1"}, 600_000},
	{run{"lease.pml", "FENCES=0 KILLS=0"}, 220_000},
	{run{"lease.pml", "FENCES=0 REPAIRS=0"}, 140_000},
	{run{"lease.pml", "FENCES=0 LOSSES=0 KILLS=0 COMMITS=1 OPENS=2"}, 13_000},
	{run{"retire.pml", "FORGERIES=0"}, 1_600_000},
	{run{"retire.pml", "KILLS=0 RUNS=1 IDS=2"}, 600_000},
	{run{"retire.pml", "KILLS=0 CRASHES=0"}, 240_000},
	{run{"pending.pml", "PATCHES=1 COMMITS=3"}, 360_000},
	{run{"pending.pml", "KILLS=0 VIEWS=1 COMMITS=1"}, 900_000},
	{run{"pending.pml", "CUTS=0 VIEWS=1"}, 1_200_000},
	{run{"pending.pml", "KILLS=0 CUTS=0"}, 500_000},
}

// large are the bounds to be checked, too, if FREEHOLD_TORTURE is set, one after
// the other: half an hour (go test -timeout 2h) and some 5 GB.
var large = []bound{
	{run{"lease.pml", "COMMITS=1"}, 15_000_000},
	{run{"lease.pml", "PROCS=3 REPAIRS=0 LOSSES=0 COMMITS=1"}, 12_000_000},
	{run{"retire.pml", ""}, 20_000_000},
	{run{"retire.pml", "RETIRERS=2 FORGERIES=0"}, 40_000_000},
	{run{"pending.pml", ""}, 25_000_000},
	{run{"pending.pml", "PATCHES=3 CUTS=0 VIEWS=1"}, 70_000_000},
	{run{"pending.pml", "PATCHES=1 COMMITS=4 KILLS=2 CUTS=2"}, 1_500_000},
}

func TestNoInterleavingBreaksALaw(t *testing.T) {
	need(t)
	var mu sync.Mutex
	never := map[string]map[string]bool{} // by model, the steps that no check has taken
	t.Run("bounds", func(t *testing.T) {
		for _, b := range bounds {
			t.Run(b.String(), func(t *testing.T) {
				t.Parallel()
				found := b.holds(t, thorough)
				mu.Lock()
				defer mu.Unlock()
				never[b.file] = both(never[b.file], found.unmoved)
			})
		}
	})
	for file, steps := range never {
		for step := range steps {
			// Those who serve others never end.
			if !strings.HasSuffix(step, `"-end-"`) {
				t.Errorf("%s: no check comes to %s", file, step)
			}
		}
	}
	if os.Getenv("FREEHOLD_TORTURE") != "" {
		for _, b := range large {
			t.Run(b.String(), func(t *testing.T) { b.holds(t, frugal) })
		}
	}
}

// holds checks the model.
func (b bound) holds(t *testing.T, e effort) result {
	t.Helper()
	found := check(t, b.run, e)
	if found.broken != "" {
		t.Errorf("this does not always hold: %s", found.broken)
	}
	if found.states < b.states {
		t.Errorf("%d states, want at least %d", found.states, b.states)
	}
	t.Logf("%d states", found.states)
	return found
}

// both returns what is in both sets; a nil set is everything.
func both(a, b map[string]bool) map[string]bool {
	if a == nil {
		return b
	}
	common := map[string]bool{}
	for s := range a {
		if b[s] {
			common[s] = true
		}
	}
	return common
}

// mutants are the models with one rule broken: the bounds that are enough to
// notice, and the law that breaks, as pan puts it.
var mutants = []struct{ file, name, defines, law string }{
	{"lease.pml", "CHECK_OUTSIDE_LOCK", repaired, "epoch[id]==newest"},
	{"lease.pml", "NO_EPOCH_CHECK", repaired, "epoch[id]==newest"},
	{"lease.pml", "RELEASE_OTHERS_EPOCH", repaired, "recEpoch<=epoch[id]"},
	{"lease.pml", "LEASE_BROKEN_BY_AGE", unrepaired, "holding==0"},
	{"lease.pml", "EPOCH_FROM_SIDECAR_ALONE", unrepaired, "epoch[id]>newest"},
	{"lease.pml", "REVISION_FROM_SIDECAR_ALONE", "FENCES=0 REPAIRS=0 KILLS=0", "revision>issued"},

	{"retire.pml", "FENCE_NOT_HELD_ACROSS_STOP", once, "(shut&(1<<r))!=0"},
	{"retire.pml", "FENCE_OPENED_UNDER_COMMAND", once, "serving&(1<<who[0])"},
	{"retire.pml", "COMMAND_WITHOUT_FENCE", "FORGERIES=0 RUNS=1 IDS=2", "serving&(1<<who[0])"},
	{"retire.pml", "FENCE_SURVIVES_DEATH", "FORGERIES=0 RUNS=1 CRASHES=0", neverEnds},
	{"retire.pml", "OPEN_HOLDS_WHILE_WAITING", "FORGERIES=0 RUNS=1 KILLS=0", neverEnds},
	{"retire.pml", "DRAIN_TAKES_FENCE", once, neverEnds},
	{"retire.pml", "PIDFD_AFTER_CHECK", once, "fd==prepared[r]"},
	{"retire.pml", "IDENTITY_BY_PID", once, "fd==prepared[r]"},
	{"retire.pml", "NO_HOLDING_CHECK", "KILLS=0 RUNS=1 IDS=2", "held&(1<<fd)"},
	{"retire.pml", "EXIT_STATUS_IGNORED", once, "slain&(1<<prepared[r])"},

	{"pending.pml", "FOLD_OUTSIDE_LOCK", "KILLS=0 CUTS=0 VIEWS=1 COMMITS=1", "must&"},
	{"pending.pml", "NO_READER_RECHECK", "KILLS=0 CUTS=0 VIEWS=1", "v&listed"},
	{"pending.pml", "SIDECAR_READ_FIRST", "KILLS=0 CUTS=0 VIEWS=1", "must&"},
	{"pending.pml", "VANISHED_NOT_READ_AGAIN", "KILLS=0 CUTS=0 VIEWS=1", "must&"},
	{"pending.pml", "FOLDED_COUNTED", "KILLS=0 CUTS=0 VIEWS=1 COMMITS=1", "v&listed"},
	{"pending.pml", "FOLDED_WITHOUT_ID", "CUTS=0 VIEWS=1 PATCHES=1", "v&listed"},
	{"pending.pml", "ID_DROPPED_EARLY", "CUTS=0 VIEWS=1 PATCHES=1 COMMITS=3", "v&listed"},
	{"pending.pml", "UNLINKED_BEFORE_PUBLISHED", "CUTS=0 KILLS=0 VIEWS=1 PATCHES=1", "must&"},
	{"pending.pml", "PATCH_NOT_SYNCED", "KILLS=0 VIEWS=1 PATCHES=1 COMMITS=0", "must&"},
	{"pending.pml", "ACKNOWLEDGED_UNSYNCED", "KILLS=0 VIEWS=1 PATCHES=1 COMMITS=0", "must&"},
	{"pending.pml", "NO_SYNC_BEFORE_UNLINK", "KILLS=0 VIEWS=1 PATCHES=1 COMMITS=1", "must&"},
	{"pending.pml", "NO_SYNC_BEFORE_DROP", "VIEWS=1 PATCHES=1 COMMITS=3", "values&"},
	{"pending.pml", "LEFTOVER_UNLINKED_AT_ONCE", "VIEWS=1 PATCHES=1", "must&"},
}

// Bounds that are enough for a counterexample.
const (
	repaired   = "FENCES=0 LOSSES=0 KILLS=0"
	unrepaired = "REPAIRS=0 FENCES=0 LOSSES=0 KILLS=0"
	once       = "FORGERIES=0 KILLS=0 RUNS=1 IDS=2"
)

func TestEachMutantBreaksItsLaw(t *testing.T) {
	need(t)
	for _, m := range mutants {
		t.Run(m.file+"/"+m.name, func(t *testing.T) {
			t.Parallel()
			found := check(t, run{m.file, "MUTANT_" + m.name + " " + m.defines}, brief)
			if !strings.Contains(found.broken, m.law) {
				t.Errorf("%d states; broken: %q, want a counterexample to %q", found.states, found.broken, m.law)
			}
		})
	}
}

// A process that ends by itself in the instant between the last look and the
// signal can be taken for one that obeyed, as long as nobody has reaped it. That
// is the only doubt.
func TestOnlyTheUnreapedAreInDoubt(t *testing.T) {
	need(t)
	if found := check(t, run{"retire.pml", "STRICT " + once}, brief); !strings.Contains(found.broken, "commanded||hit") {
		t.Errorf("broken: %q; if there is no doubt any more, say so in Retire's comment", found.broken)
	}
	if found := check(t, run{"retire.pml", "STRICT REAPED_AT_ONCE " + once}, brief); found.broken != "" {
		t.Errorf("this does not always hold: %s", found.broken)
	}
}

func TestEveryMutantIsChecked(t *testing.T) {
	name := regexp.MustCompile(`\bMUTANT_([A-Z_]+)`)
	var checked, written []string
	for _, m := range mutants {
		checked = append(checked, m.file+"/"+m.name)
	}
	files, err := filepath.Glob("*.pml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, mutant := range name.FindAllStringSubmatch(string(text), -1) {
			written = append(written, file+"/"+mutant[1])
		}
	}
	slices.Sort(checked)
	slices.Sort(written)
	if diff := cmp.Diff(slices.Compact(written), checked); diff != "" {
		t.Errorf("mutants in the models (-) and in the table (+):\n%s", diff)
	}
}
