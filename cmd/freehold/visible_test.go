package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/reader/doctor"
	"github.com/freehold-dev/freehold/reader/explain"
	"github.com/freehold-dev/freehold/reader/statetest"
	"github.com/freehold-dev/freehold/schema"
	"github.com/go-json-experiment/json"
)

// Threat T13: nothing that a terminal obeys is ever written as it is.
func TestNothingActsOnATerminal(t *testing.T) {
	for _, test := range []struct{ name, text, visible, shown string }{
		{"plain", "pane-frozen", "pane-frozen", "pane-frozen"},
		{"other scripts", "größe 漢字 עברית", "größe 漢字 עברית", "größe 漢字 עברית"},
		{"emoji with a joiner", "👩\u200d💻", "👩\u200d💻", "👩\u200d💻"},
		{"escape", "a\x1b[2Jb", `a\x1b[2Jb`, `"a\x1b[2Jb"`},
		{"C1 control", "a\u009b2Jb", `a\u009b2Jb`, `"a\u009b2Jb"`},
		{"carriage return", "a\rb", `a\rb`, `"a\rb"`},
		{"line feed", "a\nfreehold: error: x", `a\nfreehold: error: x`, `"a\nfreehold: error: x"`},
		{"direction", "a\u202eb", `a\u202eb`, `"a\u202eb"`},
		{"isolate", "a\u2066b", `a\u2066b`, `"a\u2066b"`},
		{"zero width", "a\u200bb", `a\u200bb`, `"a\u200bb"`},
		{"byte order mark", "\ufeffa", `\ufeffa`, `"\ufeffa"`},
		{"line separator", "a\u2028b", `a\u2028b`, `"a\u2028b"`},
		{"delete", "a\x7fb", `a\x7fb`, `"a\x7fb"`},
		{"tag", "a\U000e0041b", `a\U000e0041b`, `"a\U000e0041b"`},
		{"invalid UTF-8", "a\xffb", `a\xffb`, `"a\xffb"`},
		{"replacement character", "a\ufffdb", "a\ufffdb", "a\ufffdb"},
		{"empty", "", "", `""`},
		{"blanks at the ends", " a ", " a ", `" a "`},
		{"quotes", `"a"`, `"a"`, `"\"a\""`},
		{"the word unset", "unset", "unset", `"unset"`},
		{"backslash", `C:\new`, `C:\new`, `C:\new`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := visible(test.text); got != test.visible {
				t.Errorf("visible: %q, want %q", got, test.visible)
			}
			if got := shown(test.text); got != test.shown {
				t.Errorf("shown: %q, want %q", got, test.shown)
			}
		})
	}
}

// What a manifest says is a stranger's too: what could not have come from an
// owners.yaml is refused, and the rest is shown.
func TestNothingInAManifestActsOnATerminal(t *testing.T) {
	const evil = "a\x1b]0;pwn\a\nfreehold: error: b"
	for name, test := range map[string]struct {
		change func(*schema.Declaration, *schema.Owner, *schema.Field)
		status int // of what reads
	}{
		"state": {func(d *schema.Declaration, _ *schema.Owner, _ *schema.Field) { d.State = evil }, exitState},
		"home":  {func(_ *schema.Declaration, o *schema.Owner, _ *schema.Field) { o.Home = evil }, exitState},
		"owner": {func(d *schema.Declaration, o *schema.Owner, _ *schema.Field) { d.Owners[evil] = *o }, exitState},
		"field": {func(_ *schema.Declaration, o *schema.Owner, f *schema.Field) { o.Fields[evil] = *f }, exitState},
		"type":  {func(_ *schema.Declaration, _ *schema.Owner, f *schema.Field) { f.Type = evil }, exitState},
		"kind":  {func(_ *schema.Declaration, _ *schema.Owner, f *schema.Field) { f.Kind = evil }, exitState},
		"doc":   {func(_ *schema.Declaration, o *schema.Owner, f *schema.Field) { o.Doc, f.Doc = evil, evil }, exitDone},
		"unit":  {func(_ *schema.Declaration, _ *schema.Owner, f *schema.Field) { f.Unit = evil }, exitDone},
		"value": {func(_ *schema.Declaration, _ *schema.Owner, f *schema.Field) { f.Values = append(f.Values, evil) }, exitDone},
	} {
		t.Run(name, func(t *testing.T) {
			dir := freshState(t)
			statetest.Damaged(dir, doctor.ManifestInvalid)
			must(t, "set", "watchdog", "restart_reason=pane-frozen", "--dir", dir)
			rewriteManifest(t, dir, func(d *schema.Declaration) {
				o := d.Owners["watchdog"]
				f := o.Fields["restart_reason"]
				test.change(d, &o, &f)
				o.Fields["restart_reason"], d.Owners["watchdog"] = f, o
			})
			for _, args := range [][]string{
				{"view"}, {"view", "--json"}, {"explain", "restart_reason"}, {"explain", "restart_reason", "--json"},
				{"get", "restart_reason"}, {"schema", "watchdog"}, {"set", "watchdog", "restart_reason=x"},
			} {
				got := call(t, "", append(args, "--dir", dir)...)
				if want := test.status; got.Status != want && args[0] != "set" {
					t.Errorf("%q: status %d (%s), want %d", args, got.Status, got.Stderr, want)
				}
				for line := range strings.Lines(got.Stdout + got.Stderr) {
					if line = strings.TrimSuffix(line, "\n"); visible(line) != line || strings.HasPrefix(line, "freehold: error: b") {
						t.Errorf("%q wrote %q", args, line)
					}
				}
			}
		})
	}
}

// rewriteManifest changes the declaration in a state's manifest, as a stranger
// might.
func rewriteManifest(t *testing.T, dir string, change func(*schema.Declaration)) {
	t.Helper()
	file := filepath.Join(dir, ".freehold", "manifest.json")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	m, err := schema.ParseManifest(text)
	if err != nil {
		t.Fatal(err)
	}
	change(&m.Declaration)
	if text, err = m.Marshal(); err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Should a home get past the manifest's check, it is still shown and not obeyed.
func TestExplainShowsAnyHome(t *testing.T) {
	text := explaining{&explain.Explanation{Field: "f", Origin: explain.Origin{Owner: "o", Home: "\x1b]0;pwn\a"}, Type: schema.TypeInt, Kind: schema.Value}}.text()
	if strings.Contains(text, "\x1b") || !strings.Contains(text, `below \x1b]0;pwn\a.`) {
		t.Errorf("%q", text)
	}
}

func TestEscapedJSONMeansTheSame(t *testing.T) {
	for _, text := range []string{"plain", "a\x1b[2J\u202e\u009b\x7f\u2028\ufeff", "👩\u200d💻 \U000e0041 \U0001f600", "größe\ufffd\t\n"} {
		raw, err := json.Marshal(map[string]string{"k": text})
		if err != nil {
			t.Fatal(err)
		}
		escaped := visibleJSON(raw)
		if again := visible(string(escaped)); again != string(escaped) {
			t.Errorf("%q still acts on a terminal", escaped)
		}
		var back map[string]string
		if err := json.Unmarshal(escaped, &back); err != nil || back["k"] != text {
			t.Errorf("%s means %q (%v), want %q", escaped, back["k"], err, text)
		}
	}
}
