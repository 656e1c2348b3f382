package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/cmd/internal/display"
	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/reader/statetest"
	"github.com/freehold-dev/freehold/schema"
)

// The text of a manifest is a stranger's too: parts that could not come from an
// owners.yaml is refused, and the rest is shown.
func TestNothingInAManifestActsOnATerminal(t *testing.T) {
	const evil = "a\x1b]0;pwn\a\nfreehold: error: b"
	for name, test := range map[string]struct {
		change func(*schema.Declaration, *schema.Owner, *schema.Field)
		status int // of a reading command
	}{
		"state": {func(d *schema.Declaration, _ *schema.Owner, _ *schema.Field) { d.State = evil }, failure.ExitState},
		"home":  {func(_ *schema.Declaration, o *schema.Owner, _ *schema.Field) { o.Home = evil }, failure.ExitState},
		"owner": {func(d *schema.Declaration, o *schema.Owner, _ *schema.Field) { d.Owners[evil] = *o }, failure.ExitState},
		"field": {func(_ *schema.Declaration, o *schema.Owner, f *schema.Field) { o.Fields[evil] = *f }, failure.ExitState},
		"type":  {func(_ *schema.Declaration, _ *schema.Owner, f *schema.Field) { f.Type = evil }, failure.ExitState},
		"kind":  {func(_ *schema.Declaration, _ *schema.Owner, f *schema.Field) { f.Kind = evil }, failure.ExitState},
		"doc":   {func(_ *schema.Declaration, o *schema.Owner, f *schema.Field) { o.Doc, f.Doc = evil, evil }, failure.ExitDone},
		"unit":  {func(_ *schema.Declaration, _ *schema.Owner, f *schema.Field) { f.Unit = evil }, failure.ExitDone},
		"value": {func(_ *schema.Declaration, _ *schema.Owner, f *schema.Field) { f.Values = append(f.Values, evil) }, failure.ExitDone},
	} {
		t.Run(name, func(t *testing.T) {
			dir := freshState(t)
			statetest.Damaged(dir, "manifest-invalid")
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
					if line = strings.TrimSuffix(line, "\n"); display.Escape(line) != line || strings.HasPrefix(line, "freehold: error: b") {
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
