package upgrade

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/google/go-cmp/cmp"
)

func TestUpgradeKeepsEveryValueAndItsProvenance(t *testing.T) {
	dir := newState(t)
	if diff := cmp.Diff(oldView, viewed(t, dir)); diff != "" {
		t.Fatalf("before (-want +got):\n%s", diff)
	}
	_, stamp, _ := stored(t, dir, "cost").Field("stamp")
	_, turns, _ := stored(t, dir, "cost").Field("turns")
	before := sidecars(t, dir)
	report := upgraded(t, dir, younger())
	if diff := cmp.Diff(newView, viewed(t, dir)); diff != "" {
		t.Errorf("after (-want +got):\n%s", diff)
	}
	if _, by, _ := stored(t, dir, "clock").Field("stamp"); by != stamp {
		t.Errorf("stamp moved to another owner was written by %+v, and now by %+v", stamp, by)
	}
	if _, by, _ := stored(t, dir, "cost").Field("count"); by != turns {
		t.Errorf("turns, renamed and retyped, was written by %+v, and now by %+v", turns, by)
	}
	if _, _, ok := stored(t, dir, "cost").Field("note"); ok {
		t.Error("a removed field is still in the sidecar")
	}
	if diff := cmp.Diff(before, quarantined(t, dir)); diff != "" {
		t.Errorf("what is kept of the old sidecars (-want +got):\n%s", diff)
	}
	for _, k := range report.Kept {
		if text, err := os.ReadFile(k.Path); err != nil || string(text) != before[k.Owner+".json"] {
			t.Errorf("%s of owner %s is not its old sidecar (%v)", k.Path, k.Owner, err)
		}
	}
	if diff := cmp.Diff([]string{"clock", "cost", "curator", "tool", "usage", "watchdog"}, report.Rewritten); diff != "" {
		t.Errorf("rewritten (-want +got):\n%s", diff)
	}
	if again := upgraded(t, dir, younger()); len(again.Changes)+len(again.Rewritten)+len(again.Kept) > 0 || again.Resumed {
		t.Errorf("the second run has done something: %+v", again)
	}
	// New versions follow, in epochs above every version that a value keeps.
	commit(t, dir, "clock", set("cleared", "false"))
	if _, by, _ := stored(t, dir, "clock").Field("cleared"); by.Version.Epoch <= stamp.Version.Epoch {
		t.Errorf("the first commit is in epoch %d, and a value is of epoch %d", by.Version.Epoch, stamp.Version.Epoch)
	}
}

// A changed doc or unit goes to the manifest, and no sidecar is rewritten.
func TestWordsAreUpgradedInTheManifestAlone(t *testing.T) {
	dir := newState(t)
	before := sidecars(t, dir)
	next := older()
	turns := next.Owners["cost"].Fields["turns"]
	turns.Doc, turns.Unit = "Turns that were paid for.", "turns"
	next.Owners["cost"].Fields["turns"] = turns
	report := upgraded(t, dir, next)
	if len(report.Changes)+len(report.Rewritten)+len(report.Gone)+len(report.Kept) != 0 {
		t.Errorf("words are reported as changes: %+v", report)
	}
	if diff := cmp.Diff(before, sidecars(t, dir)); diff != "" {
		t.Errorf("words changed a sidecar (-before +after):\n%s", diff)
	}
	_, m := openDir(t, dir)
	got := m.Declaration.Owners["cost"].Fields["turns"]
	if got.Doc != turns.Doc || got.Unit != turns.Unit {
		t.Errorf("the manifest says %q in %q, want %q in %q", got.Doc, got.Unit, turns.Doc, turns.Unit)
	}
}

// A field that moves there and back is the one that it was, and nothing of it is
// in two places.
func TestThereAndBackIsTheSame(t *testing.T) {
	dir := newState(t)
	for range 3 {
		upgraded(t, dir, younger())
		if diff := cmp.Diff(newView, viewed(t, dir)); diff != "" {
			t.Fatalf("younger (-want +got):\n%s", diff)
		}
		upgraded(t, dir, older())
		want := view{}
		for field, raw := range oldView {
			want[field] = raw
		}
		// Going back is no undoing: removed values are in the quarantine, and no
		// "was" gives the former names.
		delete(want, "note")
		delete(want, "turns")
		want["target"] = `{}`
		want["tokens is"] = "not-observed" // of note
		if diff := cmp.Diff(want, viewed(t, dir)); diff != "" {
			t.Fatalf("older (-want +got):\n%s", diff)
		}
		commit(t, dir, "cost", sidecar.Op{Field: "turns", Verb: schema.VerbAdd, Value: []byte("7")},
			set("target", `{"host":"h","port":80}`))
	}
}

// A member that goes goes from each row, also where nothing else of the map
// changes: declared again, it would come back.
func TestAMemberThatGoesGoesFromEveryRow(t *testing.T) {
	dir := newState(t)
	next := older()
	delete(next.Owners["tool"].Fields["skills"].Record, "pinned")
	upgraded(t, dir, next)
	if got, want := viewed(t, dir)["skills"], `{"a":{"state":"new","uses":2},"b":{}}`; got != want {
		t.Errorf("skills is %s, want %s", got, want)
	}
}

// A program that reads the files alone sees a moved value twice for a moment,
// rather than not at all.
func TestAGainingOwnerIsWrittenBeforeALosingOne(t *testing.T) {
	number, flag := schema.Field{Type: schema.TypeUint}, schema.Field{Type: schema.TypeBool}
	before := &schema.Declaration{State: "s", Owners: map[string]schema.Owner{"a": {Fields: spec{"x": flag, "n": number}}, "b": {Fields: spec{"y": flag}}}}
	after := &schema.Declaration{State: "s", Owners: map[string]schema.Owner{"a": {Fields: spec{"x": flag}}, "b": {Fields: spec{"y": flag, "n": number}}}}
	dir := create(t, before)
	commit(t, dir, "a", set("n", "1"))
	d, m := openDir(t, dir)
	r := &run{dir: d, next: after, manifest: m, report: &Report{}, options: Options{Clock: time.Now}}
	p, err := r.plan()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"b", "a"}, p.pending.Sidecars); diff != "" {
		t.Errorf("they are written in the order (-want +got):\n%s", diff)
	}
}

// Members and keys of a map keep their incarnations: the members of a deleted key
// do not come back with the key.
func TestMapPartsKeepTheirIncarnations(t *testing.T) {
	dir := newState(t)
	const odd = `"future":1`
	if err := edit(filepath.Join(dir, "curator.json"), `{"state":"new"`, `{`+odd+`,"state":"new"`); err != nil {
		t.Fatal(err)
	}
	if _, err := sidecar.Accept(t.Context(), dir, "curator", nil); err != nil {
		t.Fatal(err)
	}
	commit(t, dir, "tool", sidecar.Op{Field: "skills", Key: "a", Verb: schema.VerbDelete})
	commit(t, dir, "tool", sidecar.Op{Field: "skills", Key: "a", Verb: schema.VerbInsert})
	rows, err := stored(t, dir, "tool").Rows("skills")
	if err != nil {
		t.Fatal(err)
	}
	upgraded(t, dir, younger())
	if got, want := viewed(t, dir)["skills"], `{"a":{},"b":{}}`; got != want {
		t.Errorf("skills is %s, want %s", got, want)
	}
	now, err := stored(t, dir, "curator").Rows("skills")
	if err != nil || len(now) != len(rows) {
		t.Fatalf("rows %v (%v)", now, err)
	}
	for i, row := range now {
		if row.Key != rows[i].Key || row.Born != rows[i].Born {
			t.Errorf("key %s of incarnation %v was %v", row.Key, row.Born, rows[i].Born)
		}
		if strings.Contains(string(row.Value), odd) {
			t.Errorf("key %s has %s, which the deleted one had", row.Key, row.Value)
		}
	}
	commit(t, dir, "curator", sidecar.Op{Field: "skills", Key: "c", Verb: schema.VerbInsert},
		sidecar.Op{Field: "skills", Key: "a", Member: "pinned", Verb: schema.VerbSet, Value: []byte("true")})
	commit(t, dir, "tool", sidecar.Op{Field: "skills", Key: "a", Member: "uses", Verb: schema.VerbAdd, Value: []byte("5")})
	if got, want := viewed(t, dir)["skills"], `{"a":{"pinned":true,"uses":5},"b":{},"c":{}}`; got != want {
		t.Errorf("skills is %s, want %s", got, want)
	}
}

// Members that a newer release has put into a sidecar stay there.
func TestUnknownMembersSurvive(t *testing.T) {
	dir := newState(t)
	file := filepath.Join(dir, "cost.json")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const odd = `"future":{"r":1.0,"z":-0}`
	edited := strings.Replace(string(text), `"epoch":`, odd+`,"epoch":`, 1)
	edited = strings.Replace(edited, `"turns":{"version"`, `"turns":{`+odd+`,"version"`, 1)
	edited = strings.Replace(edited, `{"host":"h"`, `{`+odd+`,"host":"h"`, 1)
	edited = strings.Replace(edited, `"note":"kept"`, `"note":"kept",`+"\n"+odd, 1)
	if err := os.WriteFile(file, []byte(edited), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := sidecar.Accept(t.Context(), dir, "cost", nil); err != nil {
		t.Fatal(err)
	}
	upgraded(t, dir, younger())
	after, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{odd + `,"epoch":`, `"count":{` + odd + `,"version"`, `"target":{` + odd + `,"name":"h"}`, "\n" + odd} {
		if !strings.Contains(string(after), want) {
			t.Errorf("%s is not in\n%s", want, after)
		}
	}
}

func edit(file, old, replacement string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(strings.Replace(string(text), old, replacement, 1)), 0o600)
}

// A program of the older build that has the state open, or opens it, is refused
// and writes nothing.
func TestOlderBuildsWriteNothingAfterwards(t *testing.T) {
	dir := newState(t)
	open := map[string]*sidecar.Writer{}
	for name, d := range map[string]*schema.Declaration{"built": older(), "by the manifest": nil} {
		w, err := sidecar.Open(t.Context(), dir, d, "cost", nil)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		open[name] = w
	}
	upgraded(t, dir, younger())
	before := sidecars(t, dir)
	for name, w := range open {
		for range 2 {
			_, err := w.Update(t.Context(), func(tx *sidecar.Tx) error {
				sidecar.CounterOf(tx, "turns", schema.Uint).Add(1)
				return nil
			})
			wantError(t, err, sidecar.ErrDeclaration)
		}
		t.Log(name, "is refused")
	}
	for owner := range older().Owners {
		_, err := sidecar.Open(t.Context(), dir, older(), owner, nil)
		wantError(t, err, sidecar.ErrDeclaration, "state upgrade")
	}
	if _, err := reader.OpenAs(dir, older()); !errors.Is(err, sidecar.ErrDeclaration) {
		t.Errorf("a reader of the older build: %v", err)
	}
	if diff := cmp.Diff(before, sidecars(t, dir)); diff != "" {
		t.Errorf("written (-before +after):\n%s", diff)
	}
}

// A claim is for good, also across upgrades: it neither moves nor can be won
// again under another name, and it outlives its field.
func TestClaimsStayWhatTheyAre(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	once := schema.Field{Type: schema.TypeTime, Kind: schema.Once}
	latch := func(owner, field string, f schema.Field) *schema.Declaration {
		return &schema.Declaration{State: "latch", Owners: map[string]schema.Owner{
			owner: {Fields: spec{field: f, "other": {Type: schema.TypeInt}}},
		}}
	}
	first := latch("hook", "fired", once)
	if err := sidecar.Create(dir, first); err != nil {
		t.Fatal(err)
	}
	claim := func(want bool) {
		t.Helper()
		w, err := sidecar.Open(t.Context(), dir, first, "hook", nil)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		if won, _, err := w.Claim(t.Context(), "fired"); won != want || err != nil {
			t.Errorf("won: %v (%v), want %v", won, err, want)
		}
	}
	claim(true)
	renamed := once
	renamed.Was = "fired"
	for name, d := range map[string]*schema.Declaration{
		"renamed": latch("hook", "shot", renamed), "moved": latch("gun", "fired", once), "retyped": latch("hook", "fired", schema.Field{Type: schema.TypeTime}),
		"a value that is a latch now": {State: "latch", Owners: map[string]schema.Owner{"hook": {Fields: spec{"fired": once, "other": once}}}},
	} {
		_, err := Run(t.Context(), dir, d, nil)
		if !errors.Is(err, sidecar.ErrDeclaration) || !strings.Contains(err.Error(), "keeps its name, owner and kind") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	upgraded(t, dir, latch("hook", "another", schema.Field{Type: schema.TypeInt}))
	_, err := sidecar.Open(t.Context(), dir, first, "hook", nil)
	wantError(t, err, sidecar.ErrDeclaration, "has removed field fired")
	upgraded(t, dir, first)
	claim(false)
}

// unplace removes the paths that a dry run does not know.
func unplace(r *Report) {
	for i := range r.Kept {
		r.Kept[i].Path = ""
	}
}
