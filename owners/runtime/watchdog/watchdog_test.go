package watchdog_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/owners/runtime"
	"github.com/freehold-dev/freehold/owners/runtime/runtimetest"
	"github.com/freehold-dev/freehold/owners/runtime/watchdog"
)

var reset = time.Date(2026, 8, 11, 9, 12, 44, 31_000_000, time.UTC)

func entry(tokens uint64, observed time.Time) []runtimetest.Setting {
	return []runtimetest.Setting{runtimetest.LastPromptTokens(tokens), runtimetest.LastPromptObservedAt(observed)}
}

func TestGuardActsOnlyOnWhatItKnows(t *testing.T) {
	stamp := runtimetest.LastContextResetAt(reset)
	after := reset.Add(time.Second)
	for _, tc := range []struct {
		name     string
		settings []runtimetest.Setting
		want     runtime.LastDecision
	}{
		{"nothing at all", nil, runtime.LastDecisionNoResetStamp()},
		{"no stamp", entry(900_000, after), runtime.LastDecisionNoResetStamp()},
		{"no entry", []runtimetest.Setting{stamp}, runtime.LastDecisionNoEntry()},
		{"half an entry", []runtimetest.Setting{stamp, runtimetest.LastPromptTokens(900_000)}, runtime.LastDecisionNoEntry()},
		{"before the reset", append(entry(900_000, reset.Add(-time.Nanosecond)), stamp), runtime.LastDecisionStaleEntry()},
		// As instants: as text, "11:12" would be after "09:12".
		{"before it, in another zone", append(entry(900_000, time.Date(2026, 8, 11, 11, 12, 44, 0, time.FixedZone("", 7200))), stamp), runtime.LastDecisionStaleEntry()},
		{"no such prompt", append(entry(watchdog.Aberrant+1, after), stamp), runtime.LastDecisionAberrantReading()},
		{"at the threshold", append(entry(watchdog.DefaultThreshold, after), stamp), runtime.LastDecisionBelowThreshold()},
		{"beyond it", append(entry(watchdog.DefaultThreshold+1, after), stamp), runtime.LastDecisionAct()},
		{"at the limit of the credible", append(entry(watchdog.Aberrant, after), stamp), runtime.LastDecisionAct()},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := watchdog.Decide(runtimetest.View(t, tc.settings...), watchdog.DefaultThreshold); got != tc.want {
				t.Errorf("decided %v, want %v", got, tc.want)
			}
		})
	}
}

func TestGuardDoesNothingOnAForeignOrDamagedStamp(t *testing.T) {
	for name, damage := range map[string]func(path string) error{
		"edited": func(path string) error {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text[len(text)-4]++ // within the last value
			return os.WriteFile(path, text, 0o600)
		},
		"empty":     func(path string) error { return os.Truncate(path, 0) },
		"truncated": func(path string) error { return os.Truncate(path, 40) },
		"a link":    func(path string) error { os.Remove(path); return os.Symlink("cost.json", path) },
	} {
		t.Run(name, func(t *testing.T) {
			settings := append(entry(900_000, reset.Add(time.Second)), runtimetest.LastContextResetAt(reset))
			dir := runtimetest.State(t, settings...)
			if err := damage(filepath.Join(dir, "reset.json")); err != nil {
				t.Fatal(err)
			}
			got, err := watchdog.Tick(t.Context(), dir, watchdog.DefaultThreshold, nil)
			if err != nil || got != runtime.LastDecisionUnreadableResetStamp() {
				t.Errorf("decided %v (%v)", got, err)
			}
		})
	}
}

func TestTickRecordsWhatItDecided(t *testing.T) {
	settings := append(entry(900_000, reset.Add(time.Second)), runtimetest.LastContextResetAt(reset))
	dir := runtimetest.State(t, settings...)
	decision, err := watchdog.Tick(t.Context(), dir, watchdog.DefaultThreshold, nil)
	if err != nil || decision != runtime.LastDecisionAct() {
		t.Fatalf("decided %v (%v)", decision, err)
	}
	r, err := runtime.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	view, err := r.View(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got, err := view.LastDecision().Get(); err != nil || got != decision {
		t.Errorf("recorded %v (%v), want %v", got, err, decision)
	}
}
