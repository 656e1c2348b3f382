package runtime_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/freehold-dev/freehold/owners/runtime/cost"
	"github.com/freehold-dev/freehold/owners/runtime/reset"
	"github.com/freehold-dev/freehold/owners/runtime/runtimetest"
	"github.com/freehold-dev/freehold/schema/errorstest"
)

// said holds the errors of the owners' verbs; the programs print them.
var said = errorstest.Golden{
	Update:  flag.Bool("update", false, "write the golden files anew"),
	Folders: []string{"cost", "cost/cmd/stop", "cost/cmd/turnstart", "reset", "reset/cmd/precompact", "reset/cmd/sessionstart", "watchdog", "watchdog/cmd/tick"},
	Untold: map[string]string{
		"%w: other processes recorded the log faster, %d times; run it again": "wants twenty processes that are each faster",
		"it is longer than %d bytes: write shorter ones":                      "TestRecordGetsPastALineWithoutEnd has such a line",
	},
	Unhelped: map[string]string{"log: not JSON": "the row is lost, and its place is named"},
}

// TestErrorsSayWhatToDo provokes the errors of the owners.
func TestErrorsSayWhatToDo(t *testing.T) {
	dir := runtimetest.State(t, runtimetest.Begun("session one", "\x1b[2J"))
	log := filepath.Join(filepath.Dir(dir), "cost-log.jsonl")
	same := func(how string, err error) { t.Helper(); said.Same(t, how, err, log, "LOG", dir, "STATE") }

	same("reset: a token that was edited", reset.End(t.Context(), dir, "session one", true, nil))
	_, err := cost.Record(t.Context(), dir, dir, "S", nil)
	same("log: a directory", err)
	for how, row := range map[string]string{
		"not JSON":                `{"timestamp":`,
		"no time":                 `{}`,
		"too much money":          `{"timestamp":"2026-08-01T00:00:00Z","estimated_cost_usd":1e999}`,
		"money that is an object": `{"timestamp":"2026-08-01T00:00:00Z","estimated_cost_usd":{"\u001b":1}}`,
	} {
		if err := os.WriteFile(log, []byte(row+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		rec, err := cost.Record(t.Context(), runtimetest.State(t), log, "S", nil)
		if err != nil || rec.Skipped != 1 {
			t.Fatalf("recorded %+v, %v", rec, err)
		}
		same("log: "+how, rec.Why)
	}
}

// TestErrorsAreAllTold fails for an error that no test of the state provokes.
func TestErrorsAreAllTold(t *testing.T) { said.Complete(t) }
