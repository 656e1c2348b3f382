package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"golang.org/x/sys/unix"
)

// Every command that can wait for another process gives up in time, whichever
// lock a stopped process holds: after --wait, or the wait that the owner declares.
func TestEveryWaitHasADeadline(t *testing.T) {
	const declaration = `state: agent
owners:
  dog: {mode: exclusive, busy: {wait: 50ms}, fields: {n: {type: uint, kind: counter}, begun: {kind: once}, x: {type: int}, turn: {kind: event}}}
  cost: {busy: {wait: 50ms}, fields: {m: {type: uint, kind: counter}, y: {type: int}, lap: {kind: event}}}
`
	dog := [][]string{
		{"add", "dog", "n", "1"}, {"apply", "dog"}, {"claim", "dog", "begun"}, {"begin", "dog", "turn"},
		{"accept", "dog"}, {"quarantine", "dog"}, {"fold", "dog"},
	}
	cost := [][]string{{"add", "cost", "m", "1"}, {"begin", "cost", "lap"}, {"accept", "cost"}, {"quarantine", "cost"}, {"fold", "cost"}}
	all := [][]string{{"state", "upgrade", "--owners", "next.yaml"}, {"adopt", "legacy.json"}}
	for lock, commands := range map[string][][]string{
		"dog.fence":  append(append(dog, all...), []string{"lease", "dog", "--wait", "50ms", "--", "true"}),
		"dog.lease":  append(append(dog, all...), []string{"lease", "dog", "--wait", "50ms", "--", "true"}, []string{"lease", "dog", "--", "true"}),
		"dog.lock":   append(append(dog, all...), []string{"lease", "dog", "--wait", "50ms", "--", "true"}),
		"cost.lock":  append(cost, all...),
		"state.lock": {{"state", "upgrade", "--owners", "next.yaml"}, {"state", "repair"}},
	} {
		t.Run(lock, func(t *testing.T) {
			t.Chdir(t.TempDir())
			for name, text := range map[string]string{
				"owners.yaml": declaration, "legacy.json": `{"x": 1, "y": 1}`,
				"next.yaml": strings.ReplaceAll(declaration, "turn: {kind: event}", "turn: {kind: event}, more: {type: int}"),
			} {
				if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			must(t, "state", "init", "--owners", "owners.yaml", "--dir", "state")
			must(t, "add", "dog", "n", "1", "--dir", "state")
			must(t, "add", "cost", "m", "1", "--dir", "state")
			file, err := os.Open(filepath.Join("state", ".freehold", lock))
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			if err := unix.Flock(int(file.Fd()), unix.LOCK_EX); err != nil {
				t.Fatal(err)
			}
			for _, args := range commands {
				for _, wait := range []string{"", "60ms"} {
					line := append([]string{}, args...)
					if line[0] == "state" && line[1] == "repair" || line[0] == "lease" {
						if wait != "" {
							continue
						}
					} else if wait != "" {
						line = append(line, "--wait", wait)
					}
					if at := slices.Index(line, "--"); at >= 0 {
						line = append(line[:at:at], append([]string{"--dir", "state"}, line[at:]...)...)
					} else {
						line = append(line, "--dir", "state")
					}
					start := time.Now()
					got := call(t, `[{"field":"n","op":"add","value":1}]`, line...)
					if took := time.Since(start); took > 20*time.Second {
						t.Errorf("%q took %v", line, took)
					}
					if got.Status != failure.ExitBusy || !strings.Contains(got.Stderr, lock) {
						t.Errorf("%q: %+v", line, got)
					}
				}
			}
		})
	}
}
