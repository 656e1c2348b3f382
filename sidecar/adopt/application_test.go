package adopt

import (
	"context"
	stdjson "encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/freehold-dev/freehold/sidecar/upgrade"
	"github.com/google/go-cmp/cmp"
)

func TestAFileIsSplitOverItsOwners(t *testing.T) {
	dir, p := newState(t, flat()), planned(t, flat(), flatFile)
	r := apply(t, p, dir)
	want := map[string]string{
		"cost":     "opened_at=\"2026-08-10T07:02:11Z\"\ntotal=\"12.5\"\n",
		"reset":    "cleared=false\nlabels=[\"a\",\"b\"]\nreset_at=\"2026-08-11T09:12:44.031Z\"\n",
		"watchdog": "reason=\"frozen\"\nticks=3\n",
	}
	if diff := cmp.Diff(want, contents(t, dir)); diff != "" {
		t.Errorf("sidecars (-want +got):\n%s", diff)
	}
	for _, o := range r.Owners {
		if o.Outcome != sidecar.Applied || o.Version.IsZero() || len(o.Kept) > 0 || o.Same > 0 {
			t.Errorf("owner %s: %+v", o.Owner, o)
		}
	}
	if diff := cmp.Diff([]Place{{Pointer: "/version"}}, p.Unowned); diff != "" {
		t.Errorf("unowned (-want +got):\n%s", diff)
	}
	_, by, _ := sidecarOf(t, filepath.Join(dir, "watchdog.json")).Field("reason")
	if by.Program != "adopt runtime.json" {
		t.Errorf("it was written by %q", by.Program)
	}
}

// Cases 85 and 131: adopting a file again changes no byte, and needs no lease of
// an owner that has a live process.
func TestAdoptingAgainChangesNothing(t *testing.T) {
	dir, p := newState(t, flat()), planned(t, flat(), flatFile)
	apply(t, p, dir)
	w, err := sidecar.Open(t.Context(), dir, nil, "watchdog", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	before := files(t, dir)
	r := apply(t, p, dir)
	if diff := cmp.Diff(before, files(t, dir)); diff != "" {
		t.Errorf("files (-before +after):\n%s", diff)
	}
	for _, o := range r.Owners {
		if o.Outcome != sidecar.Unchanged || len(o.Imported)+len(o.Kept) > 0 || o.Same == 0 {
			t.Errorf("owner %s: %+v", o.Owner, o)
		}
	}
}

// Cases 87 and 88: a field that the state knows is kept, a cleared one too, and
// both are reported; its neighbours are imported.
func TestWrittenFieldsAreKept(t *testing.T) {
	dir := newState(t, flat())
	commit(t, dir, "reset", sidecar.Op{Field: "cleared", Verb: schema.VerbSet, Value: []byte("true")}, sidecar.Op{Field: "labels", Verb: schema.VerbInsert, Value: []byte(`"new"`)})
	commit(t, dir, "cost", sidecar.Op{Field: "total", Verb: schema.VerbAdd, Value: []byte(`"1"`)})
	commit(t, dir, "watchdog", sidecar.Op{Field: "reason", Verb: schema.VerbSet, Value: []byte(`"dead"`)})
	commit(t, dir, "watchdog", sidecar.Op{Field: "reason", Verb: schema.VerbClear})
	r := apply(t, planned(t, flat(), flatFile), dir)
	want := map[string]string{"/cleared": `true / false`, "/cost_total": `"1" / "12.5"`, "/watchdog_reason": ` / "frozen"`}
	if diff := cmp.Diff(want, kept(r)); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
	if by := r.Owners[0].Kept[0]; by.Program != "hook" || by.Version.IsZero() {
		t.Errorf("kept because of %+v", by)
	}
	if diff := cmp.Diff([]string{"/labels", "/opened_at", "/reset_at", "/ticks"}, imported(r)); diff != "" {
		t.Errorf("imported (-want +got):\n%s", diff)
	}
	if got := storedIn(t, dir, "reset", "labels"); got != `["a","b","new"]` {
		t.Errorf("the set is %s", got)
	}
}

// A max or min moves on, whichever of state and file was written first.
func TestMaxAndMinCombineWithWhatIsThere(t *testing.T) {
	d := &schema.Declaration{State: "s", Owners: map[string]schema.Owner{"a": {Fields: spec{
		"earlier": latest, "later": latest, "first": first, "last": first, "m": {Kind: schema.Map, Keys: true, Value: &latest},
	}}}}
	const old, now = `"2026-01-01T00:00:00Z"`, `"2026-02-01T00:00:00Z"`
	dir := newState(t, d)
	raise := func(field string, v string) sidecar.Op {
		return sidecar.Op{Field: field, Verb: schema.VerbRaise, Value: []byte(v)}
	}
	lower := func(field string, v string) sidecar.Op {
		return sidecar.Op{Field: field, Verb: schema.VerbLower, Value: []byte(v)}
	}
	inMap := raise("m", old)
	inMap.Key = "k"
	commit(t, dir, "a", raise("earlier", old), raise("later", now), lower("first", old), lower("last", now), inMap)
	r := apply(t, planned(t, d, `{"earlier": `+now+`, "later": `+old+`, "first": `+now+`, "last": `+old+`, "m": {"k": `+now+`}}`), dir)
	if diff := cmp.Diff([]string{"/earlier", "/last", "/m/k"}, imported(r)); diff != "" {
		t.Errorf("imported (-want +got):\n%s", diff)
	}
	if o := r.Owners[0]; o.Same != 2 || len(o.Kept) > 0 {
		t.Errorf("%d the same, kept %v", o.Same, o.Kept)
	}
	want := "earlier=" + now + "\nfirst=" + old + "\nlast=" + old + "\nlater=" + now + "\nm={\"k\":" + now + "}\n"
	if got := contents(t, dir)["a"]; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// A dry run says the same as the run that follows, and touches nothing.
func TestADryRunReportsTheSameImports(t *testing.T) {
	text, err := os.ReadFile("testdata/legacy-usage.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name, text string
		d          *schema.Declaration
	}{{"flat", flatFile, flat()}, {"usage", string(text), usage()}} {
		t.Run(tc.name, func(t *testing.T) {
			dir, p := newState(t, tc.d), planned(t, tc.d, tc.text)
			before := files(t, dir)
			dry, err := p.Apply(t.Context(), dir, &Options{DryRun: true})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(before, files(t, dir)); diff != "" {
				t.Errorf("files (-before +after):\n%s", diff)
			}
			if diff := cmp.Diff(imported(apply(t, p, dir)), imported(dry)); diff != "" {
				t.Errorf("imported (-run +dry run):\n%s", diff)
			}
		})
	}
}

// Case 89: where one owner cannot be written, the others are, and it is said
// loudly; once it can be, the next run completes it.
func TestOneBadOwnerDoesNotHoldUpTheOthers(t *testing.T) {
	dir, p := newState(t, flat()), planned(t, flat(), flatFile)
	inTheWay := filepath.Join(dir, "cost.json")
	if err := os.Mkdir(inTheWay, 0o700); err != nil {
		t.Fatal(err)
	}
	r, err := p.Apply(t.Context(), dir, nil)
	wantError(t, err, store.Unreadable, "owner cost", "directory")
	if r.Owners[0].Err == nil || r.Owners[0].Outcome != sidecar.NotApplied || len(r.Owners[0].Imported) > 0 {
		t.Errorf("cost: %+v", r.Owners[0])
	}
	if err := os.Remove(inTheWay); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"/cost_total", "/opened_at"}, imported(apply(t, p, dir))); diff != "" {
		t.Errorf("imported by the second run (-want +got):\n%s", diff)
	}
}

// An edited sidecar with a field that an upgrade has removed cannot be accepted, and
// the error does not advise it.
func TestNoAdviceToAcceptARemovedField(t *testing.T) {
	dir, next := newState(t, flat()), flat()
	Damaged(dir, "sidecar-invalid")
	delete(next.Owners["cost"].Fields, "opened_at")
	if _, err := upgrade.Run(t.Context(), dir, next, nil); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "cost.json"), []byte(`{"$sidecar":1,"opened_at":"2026-08-10T08:02:11Z"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := planned(t, next, flatFile).Apply(t.Context(), dir, nil)
	wantError(t, err, store.Invalid, "cannot be accepted: field opened_at: not the owner: an upgrade of the state has removed or renamed it")
}

// An adoption is never deferred, and a value that is only pending counts as
// written.
func TestAnAdoptionIsNotDeferred(t *testing.T) {
	d := &schema.Declaration{State: "s", Owners: map[string]schema.Owner{
		"tool": {Busy: schema.Busy{Then: schema.Defer}, Fields: spec{"n": counter, "m": counter}},
	}}
	dir, p := newState(t, d), planned(t, d, `{"n": 5, "m": 6}`)
	w, err := sidecar.Open(t.Context(), dir, nil, "tool", &sidecar.Options{Program: "hook", Wait: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	holder, err := sidecar.Open(t.Context(), dir, nil, "tool", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close()
	_, err = holder.Update(t.Context(), func(*sidecar.Tx) error {
		_, err := p.Apply(t.Context(), dir, &Options{Wait: -1})
		wantError(t, err, store.Busy, "owner tool")
		c, err := w.Update(t.Context(), func(tx *sidecar.Tx) error { sidecar.CounterOf(tx, "n", schema.Uint).Add(1); return nil })
		if c.Outcome != sidecar.Deferred {
			t.Errorf("%+v (%v)", c, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	dry, err := p.Apply(t.Context(), dir, &Options{DryRun: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []*Report{dry, apply(t, p, dir)} {
		if diff := cmp.Diff(map[string]string{"/n": "1 / 5"}, kept(r)); diff != "" {
			t.Errorf("kept (-want +got):\n%s", diff)
		}
	}
	if got, want := contents(t, dir)["tool"], "m=6\nn=1\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestACancelledApplyWritesNothing(t *testing.T) {
	dir, p := newState(t, flat()), planned(t, flat(), flatFile)
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	cancel(why)
	_, err := p.Apply(ctx, dir, nil)
	wantError(t, err, why)
	if got := contents(t, dir); len(got) > 0 {
		t.Errorf("written: %v", got)
	}
}

// A real file of records arrives whole: its parts together are the file.
func TestARealMapIsAdoptedWhole(t *testing.T) {
	text, err := os.ReadFile("testdata/legacy-usage.json")
	if err != nil {
		t.Fatal(err)
	}
	dir, p := newState(t, usage()), planned(t, usage(), string(text))
	apply(t, p, dir)
	want, got := map[string]map[string]any{}, map[string]map[string]any{}
	if err := stdjson.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	for _, record := range want {
		for member, v := range record {
			switch s, _ := v.(string); {
			case v == nil:
				delete(record, member)
			case len(member) > 3 && member[len(member)-3:] == "_at":
				at, err := time.Parse(time.RFC3339, s)
				if err != nil {
					t.Fatal(err)
				}
				record[member] = at.UTC().Format(time.RFC3339Nano)
			}
		}
	}
	for _, owner := range usage().OwnerNames() {
		var part map[string]map[string]any
		if err := stdjson.Unmarshal([]byte(storedIn(t, dir, owner, "skills")), &part); err != nil {
			t.Fatal(err)
		}
		for key, record := range part {
			for member, v := range record {
				if got[key] == nil {
					got[key] = map[string]any{}
				}
				got[key][member] = v
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the union (-legacy +adopted):\n%s", diff)
	}
}

// files returns the bytes of every file in a state directory, and its time, by
// path.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		all[path] = info.ModTime().String() + " " + string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
