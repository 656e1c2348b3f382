package upgrade

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/freehold-dev/freehold/reader/statetest"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// Everything that is stored is in the upgraded state, or is said to go.
func TestEveryLossIsReported(t *testing.T) {
	without := func(change func(map[string]schema.Owner)) *schema.Declaration {
		d := older()
		change(d.Owners)
		return d
	}
	for name, c := range map[string]struct {
		next *schema.Declaration
		want []Gone
	}{
		"nothing": {older(), nil},
		"all that an upgrade does": {younger(), []Gone{
			{Owner: "cost", Field: "note", Value: []byte(`"kept"`)},
			{Owner: "cost", Field: "target", Part: "/port", Value: []byte("80")},
			{Owner: "reset", Field: "future", Value: []byte(`{"r":1.0}`)},
			{Owner: "usage", Field: "tokens", Observed: "note"},
		}},
		"a map, of several": {without(func(o map[string]schema.Owner) { delete(o, "tool"); delete(o, "curator") }), []Gone{
			{Owner: "curator", Field: "skills", Keys: 1},
			{Owner: "tool", Field: "skills", Keys: 2},
		}},
		"one's part of it, and what nobody here knows": {without(func(o map[string]schema.Owner) { delete(o, "curator") }), []Gone{
			{Owner: "curator", Field: "skills", Part: "/*/future", Keys: 1},
			{Owner: "curator", Field: "skills", Part: "/*/state", Keys: 1},
		}},
		"an owner, and what nobody here knows": {without(func(o map[string]schema.Owner) { delete(o, "reset"); delete(o, "usage") }), []Gone{
			{Owner: "reset", Field: "cleared", Value: []byte("true")},
			{Owner: "reset", Field: "future", Value: []byte(`{"r":1.0}`)},
			{Owner: "reset", Field: "pause", Open: 1},
			{Owner: "usage", Field: "spent", Value: []byte("6")},
			{Owner: "usage", Field: "tokens", Value: []byte("5")},
		}},
		"no value": {without(func(o map[string]schema.Owner) { delete(o["watchdog"].Fields, "never") }), nil},
	} {
		t.Run(name, func(t *testing.T) {
			dir := newState(t)
			byANewerRelease(t, dir, "reset", `"cleared":true`, `"cleared":true,`+"\n"+`"future":{"r":1.0}`)
			byANewerRelease(t, dir, "curator", `{"state":"new"}`, `{"future":1,"state":"new"}`)
			for _, dry := range []bool{true, false} {
				report, err := Run(t.Context(), dir, c.next, &Options{DryRun: dry})
				if err != nil {
					t.Fatal(err)
				}
				for _, g := range report.Gone {
					if want := filepath.Join(report.Dir, g.Owner+".json"); g.File != want {
						t.Errorf("%s of %s is said to be in %s", g.Field, g.Owner, g.File)
					}
				}
				if diff := cmp.Diff(c.want, report.Gone, cmpopts.IgnoreFields(Gone{}, "Declared", "File"), cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("dry: %v: gone (-want +got):\n%s", dry, diff)
				}
			}
		})
	}
}

// byANewerRelease changes the text of a sidecar as a release does that knows
// more than this one.
func byANewerRelease(t *testing.T, dir, owner, old, replacement string) {
	t.Helper()
	if err := edit(filepath.Join(dir, owner+".json"), old, replacement); err != nil {
		t.Fatal(err)
	}
	if _, err := sidecar.Accept(t.Context(), dir, owner, nil); err != nil {
		t.Fatal(err)
	}
}

// An open event of a field that is no event any more ends. That counts as a change,
// and is reported.
func TestOpenEventsOfAFormerEventEnd(t *testing.T) {
	event := schema.Field{Type: schema.TypeTime, Kind: schema.Event}
	before := dependent(needing(schema.TypeUint, "at"), map[string]spec{"reset": {"at": event}})
	dir := create(t, before)
	w, err := sidecar.Open(t.Context(), dir, before, "reset", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	reset := sidecar.EventOf(w, "at")
	token, err := reset.Begin(t.Context())
	if err == nil {
		_, err = reset.Done(t.Context(), token)
	}
	if err != nil {
		t.Fatal(err)
	}
	observing(t, dir, "cost", "tokens", "5")
	if _, err := reset.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	report := upgraded(t, dir, dependent(needing(schema.TypeUint, "at"), map[string]spec{"reset": {"at": instant}}))
	want := []Gone{{Owner: "reset", Field: "at", Open: 1}}
	if diff := cmp.Diff(want, report.Gone, cmpopts.IgnoreFields(Gone{}, "Declared", "File")); diff != "" {
		t.Errorf("gone (-want +got):\n%s", diff)
	}
	if open := stored(t, dir, "reset").Open("at"); open != nil {
		t.Errorf("begun still: %v", open)
	}
	if got := fresh(t, dir); got != "overtaken" {
		t.Errorf("tokens: %s", got)
	}
}

// A claim that cannot be read is one all the same.
func TestALostClaimIsReported(t *testing.T) {
	dir := newSpooled(t)
	statetest.Damaged(dir, "claim-invalid")
	w := openAs(t, dir, "hook", spooled())
	if _, _, err := w.Claim(t.Context(), "fired"); err != nil {
		t.Fatal(err)
	}
	next := spooled()
	delete(next.Owners["hook"].Fields, "fired")
	file := filepath.Join(dir, ".freehold", "claims", "hook", "fired")
	sound, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	claim, err := document.DecodeClaim(sound)
	if err != nil {
		t.Fatal(err)
	}
	at, _ := schema.Time.Append(nil, claim.At)
	for text, value := range map[string][]byte{string(sound): at, "damaged": nil} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		report, err := Run(t.Context(), dir, next, &Options{DryRun: true})
		if err != nil {
			t.Fatal(err)
		}
		want := []Gone{{Owner: "hook", Field: "fired", File: file, Claimed: true, Value: value}}
		if diff := cmp.Diff(want, report.Gone, cmpopts.IgnoreFields(Gone{}, "Declared")); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}
