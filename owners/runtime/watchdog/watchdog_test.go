package watchdog_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/owners/runtime"
	"github.com/freehold-dev/freehold/owners/runtime/runtimetest"
	"github.com/freehold-dev/freehold/owners/runtime/watchdog"
	"github.com/freehold-dev/freehold/reader/statetest"
)

var reset = time.Date(2026, 8, 11, 9, 12, 44, 31_000_000, time.UTC)

func entry(tokens uint64, observed time.Time) []runtimetest.Setting {
	return []runtimetest.Setting{runtimetest.LastPromptTokens(tokens), runtimetest.LastPromptObservedAt(observed)}
}

func TestGuardActsOnlyOnWhatItKnows(t *testing.T) {
	stamp := runtimetest.LastContextResetAt(reset)
	sample := runtimetest.LastPromptTokens
	for _, tc := range []struct {
		name     string
		settings []runtimetest.Setting
		want     runtime.LastDecision
	}{
		{"nothing at all", nil, runtime.LastDecisionNoResetStamp()},
		{"no stamp", []runtimetest.Setting{sample(900_000)}, runtime.LastDecisionNoResetStamp()},
		{"no entry", []runtimetest.Setting{stamp}, runtime.LastDecisionNoEntry()},
		{"before the reset", []runtimetest.Setting{runtimetest.LastPromptTokensBefore(900_000), stamp}, runtime.LastDecisionStaleEntry()},
		// By the clocks it came long after.
		{"before it, with a clock ahead by years", []runtimetest.Setting{runtimetest.LastPromptTokensBefore(900_000), runtimetest.LastPromptObservedAt(reset.AddDate(30, 0, 0)), stamp}, runtime.LastDecisionStaleEntry()},
		{"after it, with a clock behind by years", []runtimetest.Setting{sample(900_000), runtimetest.LastPromptObservedAt(reset.AddDate(-30, 0, 0)), stamp}, runtime.LastDecisionAct()},
		{"nobody knows", []runtimetest.Setting{runtimetest.LastPromptTokensUnobserved(900_000), stamp}, runtime.LastDecisionUnknownEntry()},
		{"no such prompt", []runtimetest.Setting{sample(watchdog.Aberrant + 1), stamp}, runtime.LastDecisionAberrantReading()},
		{"at the threshold", []runtimetest.Setting{sample(watchdog.DefaultThreshold), stamp}, runtime.LastDecisionBelowThreshold()},
		{"beyond it", []runtimetest.Setting{sample(watchdog.DefaultThreshold + 1), stamp}, runtime.LastDecisionAct()},
		{"at the limit of the credible", []runtimetest.Setting{sample(watchdog.Aberrant), stamp}, runtime.LastDecisionAct()},
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
			statetest.Damaged(dir, "sidecar-foreign", "sidecar-invalid", "sidecar-unreadable")
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
