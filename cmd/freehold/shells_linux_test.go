package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A shell is a real one, in which a user types.
type shell struct {
	name string
	args []string
	// ready makes it load the completion script $SCRIPT, and then print READY.
	ready string
	// list is pressed to see all offers with their descriptions.
	list string
	env  []string
}

var shells = []shell{
	{
		name: "bash", args: []string{"--norc", "--noprofile", "-i"},
		ready: "PS1='> '; bind 'set bell-style none'; . $SCRIPT; echo REA''DY\n", list: "\t\t",
	},
	{
		name: "zsh", args: []string{"-f", "-i"},
		ready: "PS1='> '; unsetopt beep; autoload -Uz compinit; compinit -u -d $HOME/dump; . $SCRIPT; compdef _freehold freehold; echo REA''DY\n", list: "\t\t",
	},
}

const typed = `state: session
owners:
  hook:
    doc: The hooks of the session.
    fields:
      phase: {type: enum, values: [idle, bussy], doc: Where the session is.}
      phone: {type: string, doc: A number.}
      skills: {kind: map, keys: true, doc: Uses., record: {uses: {type: uint, kind: counter}}}
`

// typedState returns the environment of a shell beside a state.
func typedState(t *testing.T) []string {
	t.Helper()
	home := t.TempDir()
	dir, owners := filepath.Join(home, "state"), filepath.Join(home, "owners.yaml")
	if err := os.WriteFile(owners, []byte(typed), 0o600); err != nil {
		t.Fatal(err)
	}
	must(t, "state", "init", "--dir", dir, "--owners", owners)
	must(t, "put", "hook", "skills", "deploy", "uses=1", "--dir", dir)
	return terminalEnv("HOME="+home, "FREEHOLD_DIR="+dir, "SCRIPT="+filepath.Join(home, "script"), "INPUTRC=/dev/null", "LC_ALL=C.UTF-8", "HISTFILE=")
}

// In real shells the tab key completes owners, fields, values and keys, and shows
// their descriptions.
func TestShellsCompleteWhatIsTyped(t *testing.T) {
	for _, sh := range shells {
		t.Run(sh.name, func(t *testing.T) {
			path, err := exec.LookPath(sh.name)
			if err != nil {
				t.Skipf("no %s here: .ci/run installs the shells", sh.name)
			}
			env := typedState(t)
			if err := os.WriteFile(valueOf(env, "SCRIPT"), []byte(must(t, "completion", sh.name)), 0o600); err != nil {
				t.Fatal(err)
			}
			terminal, other := openTerminal(t, 120)
			cmd := exec.Command(path, sh.args...)
			cmd.Stdin, cmd.Stdout, cmd.Stderr = terminal, terminal, terminal
			cmd.Env = append(env, sh.env...)
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			terminal.Close()
			hung := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
			t.Cleanup(func() {
				hung.Stop()
				cmd.Process.Kill()
				cmd.Wait()
			})
			screen := &typing{t: t, keys: other}
			screen.types(sh.ready, "READY")
			for _, step := range []struct{ keys, shows string }{
				{"freehold se\t", "set "},
				{"ho\t", "hook "},
				{"phas\t", "phase="},
				{"bu\t", "bussy"},
				{"\x15freehold put hook sk\t", "skills "},
				{"de\t", "deploy "},
				{"us\t", "uses="},
				{"\x15freehold get pho\t", "phone "},
				{"\x15freehold clear hook ph" + sh.list, "Where the session is."},
			} {
				screen.types(step.keys, step.shows)
			}
		})
	}
}

// A typing is what a terminal has shown since the last keys.
type typing struct {
	t    *testing.T
	keys *os.File
}

// types presses keys and waits until the terminal shows a text.
func (s *typing) types(keys, shows string) {
	s.t.Helper()
	if _, err := s.keys.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
	var shown bytes.Buffer
	buf := make([]byte, 4096)
	for !strings.Contains(colours.ReplaceAllString(shown.String(), ""), shows) {
		n, err := s.keys.Read(buf)
		if err != nil {
			s.t.Fatalf("after %q the terminal never shows %q: %v\n%s", keys, shows, err, &shown)
		}
		shown.Write(buf[:n])
	}
}

// fish says itself what it would offer.
func TestFishCompletesWhatIsTyped(t *testing.T) {
	if _, err := exec.LookPath("fish"); err != nil {
		t.Skip("no fish here: .ci/run installs the shells")
	}
	env := typedState(t)
	if err := os.WriteFile(valueOf(env, "SCRIPT"), []byte(must(t, "completion", "fish")), 0o600); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"freehold set ho":              "hook\tThe hooks of the session.",
		"freehold set hook phas":       "phase=\tWhere the session is.",
		"freehold set hook phase=bu":   "phase=bussy\tWhere the session is.",
		"freehold put hook skills de":  "deploy\tUses.",
		"freehold get pho":             "phone\tA number.",
		"freehold view --owner ho":     "hook\tThe hooks of the session.",
		"freehold view --field=phas":   "--field=phase\tWhere the session is.",
		"freehold completion po":       "powershell",
		"freehold get skills deploy u": "uses",
	} {
		cmd := exec.CommandContext(t.Context(), "fish", "--no-config", "-c", `source $SCRIPT; complete -C "$LINE"`)
		cmd.Env = append(env, "LINE="+line)
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains("\n"+string(out), "\n"+want+"\n") {
			t.Errorf("%q offers %q (%v), want %q", line, out, err, want)
		}
	}
}
