package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
)

// A pane is a terminal of tmux, which shows as a user sees it.
type pane struct {
	t      *testing.T
	socket string
}

// startPane runs a shell command in a new pane.
func startPane(t *testing.T, width int, command string) *pane {
	t.Helper()
	p := &pane{t, filepath.Join(t.TempDir(), "tmux")}
	t.Cleanup(func() { exec.Command("tmux", "-S", p.socket, "kill-server").Run() })
	cmd := exec.Command("tmux", "-S", p.socket, "-f", "/dev/null", "new-session", "-d", "-x", fmt.Sprint(width), "-y", "60", command+"; tmux wait-for -S done; read end")
	cmd.Env = terminalEnv("LC_ALL=C.UTF-8")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("tmux: %v: %s", err, out)
	}
	return p
}

func (p *pane) tmux(args ...string) string {
	p.t.Helper()
	out, err := exec.CommandContext(p.t.Context(), "tmux", append([]string{"-S", p.socket}, args...)...).Output()
	if err != nil {
		p.t.Fatalf("tmux %v: %v", args, err)
	}
	return string(out)
}

// shows waits until the pane shows a text, and returns all that it shows.
func (p *pane) shows(text string) string {
	p.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
		if screen := p.tmux("capture-pane", "-p"); strings.Contains(screen, text) {
			return screen
		} else if time.Now().After(deadline) {
			p.t.Fatalf("the pane never shows %q:\n%s", text, screen)
		}
	}
}

// The recordings of each screen, as a terminal emulator shows them, are those in the
// golden files.
func TestRecordingsAreAsShown(t *testing.T) {
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("no tmux here: .ci/run installs it")
	}
	self, err := exec.LookPath("freehold")
	if err != nil {
		t.Fatal(err)
	}
	for _, width := range []int{80, 120} {
		shown, padded := shownState(t, "", 3*time.Hour), shownState(t, padding(), 3*time.Hour)
		for _, r := range []struct{ name, command, dir string }{
			{"view", "view --dir " + shown, shown},
			{"explain", "explain last_prompt_tokens --dir " + padded, padded},
			{"doctor", "doctor --dir " + padded, padded},
			{"demo", "demo", shown},
		} {
			t.Run(fmt.Sprintf("%s at %d", r.name, width), func(t *testing.T) {
				p := startPane(t, width, "cd "+t.TempDir()+"; "+self+" "+r.command)
				p.tmux("wait-for", "done")
				golden(t, fmt.Sprintf("screens/recorded_%s_%d.txt", r.name, width), recorded(p.tmux("capture-pane", "-p"), r.dir))
			})
		}
		t.Run(fmt.Sprintf("watch at %d", width), func(t *testing.T) {
			dir := shownState(t, "", 0)
			if err := os.Remove(filepath.Join(dir, "watch.json")); err != nil {
				t.Fatal(err)
			}
			p := startPane(t, width, self+" watch --dir "+dir)
			p.shows("since")
			w := shownWriter(t, dir, "reset", "reset-hook", 0)
			defer w.Close()
			if _, err := w.Update(t.Context(), func(tx *sidecar.Tx) error {
				tx.Apply(sidecar.Op{Field: "phase", Verb: schema.VerbSet, Value: []byte(`"later"`)})
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			golden(t, fmt.Sprintf("screens/recorded_watch_%d.txt", width), recorded(p.shows("later"), dir))
		})
	}
}

// recorded returns what a pane showed, with names in the place of all that differs
// from run to run.
func recorded(screen, dir string) string {
	screen = strings.TrimRight(alike(screen, dir), " \n") + "\n"
	for _, r := range []struct{ match, by string }{
		{`(?m)^\d\d:\d\d:\d\d`, "23:06:15"},
		{`\d+ on record: \d+ LOST`, "36 on record: 164 LOST"},
		{`(process|successor) \d+`, "$1 4711"},
		{`\d+ ended, \d+ is next`, "4711 ended, 4712 is next"},
		{`in [0-9.]+ seconds`, "in 1.0 seconds"},
	} {
		screen = regexp.MustCompile(r.match).ReplaceAllString(screen, r.by)
	}
	return screen
}
