package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/google/go-cmp/cmp"
)

// A setting is a terminal and its user's environment.
type setting struct {
	name  string
	width int
	env   []string
}

// settings are those that each screen is shown in.
var settings = []setting{
	{"200 columns", 200, nil},
	{"120 columns", 120, nil},
	{"100 columns", 100, nil},
	{"80 columns", 80, nil},
	{"60 columns", 60, nil},
	{"40 columns", 40, nil},
	{"light", 100, []string{"COLORFGBG=0;15"}},
	{"NO_COLOR", 100, []string{"NO_COLOR=yes", "CLICOLOR_FORCE=1"}},
	{"TERM=dumb", 100, []string{"TERM=dumb"}},
	{"the C locale", 100, []string{"LC_ALL=C", "NO_COLOR=1"}},
}

// Each screen looks as in its golden file, in every setting. Escapes show as ^[.
func TestScreensLookAsShown(t *testing.T) {
	dirs := map[bool]string{false: shownState(t, "", 3*time.Hour), true: shownState(t, padding(), 3*time.Hour)}
	for name, args := range map[string][]string{
		"view":     {"view"},
		"field":    {"view", "--field", "peak", "--field", "phase"},
		"explain":  {"explain", "last_prompt_tokens"},
		"begun":    {"explain", "last_context_reset_at"},
		"obstacle": {"explain", "verdict"},
		"doctor":   {"doctor"},
	} {
		t.Run(name, func(t *testing.T) {
			var all strings.Builder
			dir := dirs[args[0] != "view"] // others print processes
			for _, s := range settings {
				out := onTerminal(t, s.width, s.env, append(args, "--dir", dir)...)
				fits(t, out, s.width)
				fmt.Fprintf(&all, "%s:\n%s\n", s.name, strings.ReplaceAll(alike(out, dir), "\x1b", "^"))
			}
			golden(t, "screens/"+name+".txt", all.String())
		})
	}
}

// shownState returns a state with all that a screen may show. Its path is as long
// in every run. pad is a part of the program names, ago the age of all values.
func shownState(t *testing.T, pad string, ago time.Duration) string {
	t.Helper()
	home := ""
	for i := 0; home == "" || os.IsExist(os.Mkdir(home, 0o700)); i++ {
		home = fmt.Sprintf("/tmp/screens%08d", i)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	dir := filepath.Join(home, "state")
	err := sidecar.Create(dir, &schema.Declaration{State: "runtime", Owners: map[string]schema.Owner{
		"reset": {Home: "owners/runtime/reset", Fields: map[string]schema.Field{
			"last_context_reset_at": {Type: schema.TypeTime, Kind: schema.Event, Doc: "When the context was last reset."},
			"phase":                 {Type: schema.TypeString},
			"since":                 {Type: schema.TypeTime, Kind: schema.Max},
		}},
		"cost": {Home: "owners/runtime/cost", Fields: map[string]schema.Field{
			"last_prompt_tokens": {Type: schema.TypeUint, DependsOn: []string{"phase"}, Doc: "Prompt tokens of the last call.", Unit: "tokens"},
			"peak":               {Type: schema.TypeUint, DependsOn: []string{"phase"}},
			"length":             {Type: schema.TypeUint, DependsOn: []string{"last_context_reset_at"}},
			"note":               {Type: schema.TypeString},
			"seen":               {Type: schema.TypeJSON},
		}},
		"watch": {Home: "owners/runtime/watch", Fields: map[string]schema.Field{"verdict": {Type: schema.TypeString}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	write := func(owner, program string, ops ...sidecar.Op) {
		w := shownWriter(t, dir, owner, program+pad, ago)
		defer w.Close()
		if _, err := w.Update(t.Context(), func(tx *sidecar.Tx) error {
			for _, op := range ops {
				tx.Apply(op)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	op := func(verb schema.Verb, field, value string) sidecar.Op {
		op := sidecar.Op{Field: field, Verb: verb, Value: []byte(value)}
		if field == "last_prompt_tokens" || field == "length" || field == "peak" {
			op.Seen = observed(t, dir, field)
		}
		return op
	}
	write("cost", "stop-hook", op(schema.VerbSet, "last_prompt_tokens", "5"), op(schema.VerbSet, "length", "7"))
	write("cost", "note taker", op(schema.VerbSet, "note", `"2026-08-11 漢字 of many words, with an \u001b[2J, a \u202e and `+strings.Repeat("x", 60)+`"`),
		op(schema.VerbSet, "seen", `{"first":"2026-08-11T09:12:44.031Z","last":"2026-08-11T09:12:45.031Z"}`))
	write("reset", "reset-hook", op(schema.VerbSet, "phase", `"late"`), op(schema.VerbRaise, "since", `"2026-08-11T09:12:44.031234567Z"`))
	write("cost", "stop-hook", op(schema.VerbSet, "peak", "9"))
	w := shownWriter(t, dir, "reset", "reset-hook"+pad, ago)
	defer w.Close()
	if _, err := sidecar.EventOf(w, "last_context_reset_at").Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "watch.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// shownWriter opens a writer whose commits look alike in every run: the time is of
// some time ago and has as many digits, and so has the program with its process.
func shownWriter(t *testing.T, dir, owner, program string, ago time.Duration) *sidecar.Writer {
	t.Helper()
	at := time.Now().Add(-ago).Truncate(time.Second).Add(31 * time.Millisecond)
	w, err := sidecar.Open(t.Context(), dir, nil, owner, &sidecar.Options{Program: program, Clock: func() time.Time { return at }})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// padding makes the name of a program with its process as long in every run.
func padding() string { return strings.Repeat("-", 8-len(fmt.Sprint(os.Getpid()))) }

// observed returns what a writer of field has to say that it has seen.
func observed(t *testing.T, dir, field string) sidecar.Seen {
	t.Helper()
	r, err := reader.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	view, err := r.View(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	seen, err := view.ObserveFor(field)
	if err != nil {
		t.Fatal(err)
	}
	return seen
}

// colours matches what changes the looks of text.
var colours = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// alike replaces what differs from run to run by something as wide.
func alike(out, dir string) string {
	out = strings.ReplaceAll(out, dir, "/tmp/screens00000000/state")
	for _, r := range []struct{ match, by string }{
		{`[0-9a-f]{32}`, "0123456789abcdef0123456789abcdef"},
		{`\d{16}\.(\d)\.[0-9a-v]{13}`, "1786439564031000.$1.0123456789abc"},
		{`…(\d)\.[0-9a-v]{13}`, "…$1.0123456789abc"},
		{`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.031Z`, "2026-08-11T09:12:44.031Z"},
		{`[0-9a-v]{26}:(\w+):[0-9a-v]{13}`, "0123456789abcdef0123456789:$1:0123456789abc"},
		{`\b\ds\b`, "0s"},
		{`(hook)-*(,\s+process\s+)\d+`, "$1${2}4711"},
		{`20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ`, "2026-08-11T09:12:44Z"},
	} {
		out = regexp.MustCompile(r.match).ReplaceAllString(out, r.by)
	}
	return out
}

// A value of many words is all there on a narrow terminal; and $COLUMNS is the width
// that a user wants.
func TestViewOnATerminalLosesNoWord(t *testing.T) {
	dir := freshState(t)
	must(t, "set", "reset", "name="+strings.Repeat("many words ", 20), "--dir", dir)
	for _, width := range []int{40, 50, 80, 200} {
		out := onTerminal(t, width, nil, "view", "--dir", dir)
		fits(t, out, width)
		if words := strings.Count(out, "many"); words != 20 {
			t.Errorf("%d columns: %d of 20 words are there", width, words)
		}
		if diff := cmp.Diff(out, onTerminal(t, 140, []string{fmt.Sprint("COLUMNS=", width)}, "view", "--dir", dir)); diff != "" {
			t.Errorf("COLUMNS=%d (-terminal of that width +variable)\n%s", width, diff)
		}
	}
}

// Colours are another dress of the same text, in a pipe too if the user wants that;
// JSON has none. In the C locale no byte is above ASCII.
func TestColoursChangeNoText(t *testing.T) {
	dir := shownState(t, "", 3*time.Hour)
	for _, width := range []int{40, 100} {
		dark := onTerminal(t, width, nil, "view", "--dir", dir)
		for _, env := range []string{"NO_COLOR=yes", "TERM=dumb", "COLORFGBG=0;15", "CLICOLOR=0"} {
			other := onTerminal(t, width, []string{env}, "view", "--dir", dir)
			if diff := cmp.Diff(colours.ReplaceAllString(dark, ""), colours.ReplaceAllString(other, "")); diff != "" {
				t.Errorf("%d columns, %s (-without +with):\n%s", width, env, diff)
			}
			if env != "COLORFGBG=0;15" && strings.Contains(other, "\x1b[3") {
				t.Errorf("%s: there are colours: %q", env, other)
			}
		}
	}
	cmd := exec.Command("freehold", "view", "--dir", dir)
	plain, _ := cmd.Output() // one sidecar is broken
	cmd = exec.Command("freehold", "view", "--dir", dir)
	cmd.Env = append(os.Environ(), "CLICOLOR_FORCE=1")
	forced, _ := cmd.Output()
	if !bytes.Contains(forced, []byte("\x1b[31m")) || colours.ReplaceAllString(string(forced), "") != string(plain) {
		t.Errorf("CLICOLOR_FORCE in a pipe: %q, without it %q", forced, plain)
	}
	if out := onTerminal(t, 200, []string{"CLICOLOR_FORCE=1"}, "view", "--json", "--dir", dir); strings.Contains(out, "\x1b") {
		t.Errorf("JSON has colours: %q", out)
	}
	for _, locale := range []string{"C", "POSIX", "de_DE.ISO-8859-1"} {
		out := onTerminal(t, 100, []string{"LANG=C.UTF-8", "LC_ALL=" + locale}, "view", "--dir", dir)
		if i := strings.IndexFunc(out, func(r rune) bool { return r > 127 }); i >= 0 {
			t.Errorf("%s: %q", locale, out[i:])
		}
	}
}

// A view that is longer than the terminal goes through the pager, with its looks; a
// pager that is missing, or left early, changes neither output nor status.
func TestALongViewGoesThroughThePager(t *testing.T) {
	dir := shownState(t, "", 3*time.Hour)
	shown := onTerminal(t, 30, nil, "view", "--dir", dir)
	if strings.Count(shown, "\n") < 40 { // that is the height
		t.Fatalf("the view is too short:\n%s", shown)
	}
	for _, test := range []struct {
		pager string
		args  []string
		want  string
	}{
		{"sed 's/^/> /'", nil, regexp.MustCompile("(?m)^(.)").ReplaceAllString(shown, "> $1")},
		{"sed 's/^/> /'", []string{"--no-pager"}, shown},
		{"sed 's/^/> /'", []string{"--field", "phase", "--no-pager=false"}, ""},
		{"cat", nil, shown},
		{"nowhere/pager", nil, shown},
		{"head -n 1 >/dev/null", nil, ""},
	} {
		out := onTerminal(t, 30, []string{"PAGER=" + test.pager}, append([]string{"view", "--dir", dir}, test.args...)...)
		if test.args != nil && test.want == "" {
			if strings.Contains(out, "> ") {
				t.Errorf("a short view went through %s", test.pager)
			}
			continue
		}
		if out = regexp.MustCompile(`(?m)^sh: .*\n`).ReplaceAllString(out, ""); strings.ReplaceAll(out, "> \n", "\n") != test.want {
			t.Errorf("PAGER=%s %v (-want +got):\n%s", test.pager, test.args, cmp.Diff(test.want, out))
		}
	}
	terminal, other := openTerminal(t, 30)
	cmd := exec.Command("freehold", "view", "--dir", dir)
	cmd.Stdout, cmd.Env = terminal, terminalEnv("PAGER=true")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	terminal.Close()
	new(bytes.Buffer).ReadFrom(other)
	if exit, ok := errors.AsType[*exec.ExitError](cmd.Wait()); !ok || exit.ExitCode() != 3 {
		t.Errorf("the exit status is %v, want that of the broken sidecar, 3", exit)
	}
}
