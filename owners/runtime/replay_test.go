package runtime_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/owners/runtime"
	"github.com/freehold-dev/freehold/owners/runtime/cost"
	"github.com/freehold-dev/freehold/owners/runtime/reset"
	"github.com/freehold-dev/freehold/owners/runtime/runtimetest"
	"github.com/freehold-dev/freehold/owners/runtime/watchdog"
	"github.com/freehold-dev/freehold/sidecar"
)

// oldWay is the state as the hooks had it: one record that each reads whole and
// writes whole, and a guard that compares two texts of wall clocks.
type oldWay struct {
	resetAt, observedAt string
	tokens              uint64
}

func (o oldWay) acts() bool {
	return o.resetAt != "" && o.observedAt > o.resetAt && o.tokens > watchdog.DefaultThreshold
}

// A newWay is the same through the programs' verbs.
type newWay struct {
	*testing.T
	dir, log string
}

func (n newWay) must(err error) {
	n.Helper()
	if err != nil {
		n.Fatal(err)
	}
}

const session = "S-042"

func at(clock time.Time) *sidecar.Options {
	return &sidecar.Options{Clock: func() time.Time { return clock }}
}

func (n newWay) begin(clock time.Time) {
	n.Helper()
	n.must(reset.Begin(n.Context(), n.dir, session, at(clock)))
}

func (n newWay) end(clock time.Time) {
	n.Helper()
	n.must(reset.End(n.Context(), n.dir, session, false, at(clock)))
}

func (n newWay) turnStarts(clock time.Time) {
	n.Helper()
	n.must(cost.Observe(n.Context(), n.dir, n.log, session, at(clock)))
}

// sampled appends a row of a prompt that is too long to the log.
func (n newWay) sampled(clock time.Time) {
	n.Helper()
	f, err := os.OpenFile(n.log, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	n.must(err)
	_, err = fmt.Fprintf(f, `{"timestamp":%q,"session_id":%q,"last_call_prompt_tokens":900000,"estimated_cost_usd":0.5}`+"\n", clock.Format(time.RFC3339), session)
	n.must(err)
	n.must(f.Close())
}

func (n newWay) turnEnds(clock time.Time) {
	n.Helper()
	_, err := cost.Record(n.Context(), n.dir, n.log, session, at(clock))
	n.must(err)
}

func (n newWay) decides(want runtime.LastDecision) {
	n.Helper()
	if got, err := watchdog.Tick(n.Context(), n.dir, watchdog.DefaultThreshold, nil); err != nil || got != want {
		n.Errorf("the guard decides %v (%v), want %v", got, err, want)
	}
}

// Case 123, and its like: stories that went wrong the old way, and do not now. The guard of the old way
// must be wrong, or the story proves nothing.
func TestReplaysOfTheOldWay(t *testing.T) {
	noon := time.Date(2026, 8, 11, 12, 0, 0, 0, time.UTC)
	after := func(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }
	text := func(minutes int) string { return after(minutes).Format(time.RFC3339) }
	for name, story := range map[string]struct {
		old   func() (wrong bool)
		again func(newWay)
	}{
		"the lost stamp": {
			func() bool {
				o := oldWay{resetAt: text(-60)}
				stop := o // reads, before the reset
				o.resetAt = text(2)
				stop.tokens, stop.observedAt = 900_000, text(1)
				o = stop // and writes the old text
				return o.acts()
			},
			func(n newWay) {
				n.turnStarts(after(0))
				n.sampled(after(1))
				n.begin(after(2))
				n.end(after(2))
				n.turnEnds(after(3))
				n.decides(runtime.LastDecisionStaleEntry())
			},
		},
		"the sample between stamp and effect": {
			func() bool {
				o := oldWay{resetAt: text(1)} // stamped before it takes effect
				o.tokens, o.observedAt = 900_000, text(2)
				return o.acts() // after it took effect, at 3
			},
			func(n newWay) {
				n.begin(after(1))
				n.turnStarts(after(1))
				n.sampled(after(2))
				n.turnEnds(after(2))
				n.decides(runtime.LastDecisionResetUnderWay())
				n.end(after(3))
				n.decides(runtime.LastDecisionStaleEntry())
			},
		},
		"the log row older than the observation": {
			func() bool {
				o := oldWay{resetAt: text(2)}
				o.tokens, o.observedAt = 900_000, text(4) // when the row of 1 was read
				return o.acts()
			},
			func(n newWay) {
				n.sampled(after(1))
				n.begin(after(2))
				n.end(after(2))
				n.turnStarts(after(3))
				n.turnEnds(after(4))
				n.decides(runtime.LastDecisionNoEntry())
			},
		},
		"the clock steps back by years": {
			func() bool {
				o := oldWay{resetAt: noon.AddDate(30, 0, 0).Format(time.RFC3339)} // then the clock is put right
				o.tokens, o.observedAt = 900_000, text(1)
				return !o.acts() // for thirty years
			},
			func(n newWay) {
				n.begin(noon.AddDate(30, 0, 0))
				n.end(noon.AddDate(30, 0, 0))
				n.turnStarts(after(0))
				n.sampled(after(1))
				n.turnEnds(after(1))
				n.decides(runtime.LastDecisionAct())
			},
		},
		"the clock steps back between sample and reset": {
			func() bool {
				o := oldWay{tokens: 900_000, observedAt: text(1)}
				o.resetAt = noon.AddDate(-30, 0, 0).Format(time.RFC3339) // afterwards
				return o.acts()
			},
			func(n newWay) {
				n.turnStarts(after(0))
				n.sampled(after(1))
				n.turnEnds(after(1))
				n.begin(noon.AddDate(-30, 0, 0))
				n.end(noon.AddDate(-30, 0, 0))
				n.decides(runtime.LastDecisionStaleEntry())
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if !story.old() {
				t.Error("the old way gets this right")
			}
			story.again(newWay{t, runtimetest.State(t), filepath.Join(t.TempDir(), "log")})
		})
	}
}
