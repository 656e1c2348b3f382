package explain_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/reader/explain"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/go-json-experiment/json"
)

// A change of freshness alone has the time and the program of the commit that made
// it, which is another owner's, and keeps the version of its own field. The beginning
// of an event is such a commit.
func TestAChangeOfFreshnessIsDatedByItsCause(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	err := sidecar.Create(dir, &schema.Declaration{State: "agent", Owners: map[string]schema.Owner{
		"reset": {Fields: map[string]schema.Field{"phase": {Type: schema.TypeString}}},
		"cost":  {Fields: map[string]schema.Field{"tokens": {Type: schema.TypeUint, DependsOn: []string{"phase"}}}},
		"hook":  {Fields: map[string]schema.Field{"fired": {Type: schema.TypeTime, Kind: schema.Event}}},
		"count": {Fields: map[string]schema.Field{"lines": {Type: schema.TypeUint, DependsOn: []string{"fired"}}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := reader.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	view := func() *reader.View {
		v, err := r.View(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	commit := func(owner, program string, op sidecar.Op) sidecar.Version {
		w, err := sidecar.Open(context.Background(), dir, nil, owner, &sidecar.Options{Program: program})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		c, err := w.Update(t.Context(), func(tx *sidecar.Tx) error {
			tx.Apply(op)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return c.Version
	}
	commit("reset", "first", sidecar.Op{Field: "phase", Verb: schema.VerbSet, Value: []byte(`"a"`)})
	seen, err := view().ObserveFor("tokens")
	if err != nil {
		t.Fatal(err)
	}
	own := commit("cost", "writer", sidecar.Op{Field: "tokens", Verb: schema.VerbSet, Value: []byte("1"), Seen: seen})
	var d explain.Differ
	only := func(_, field string) bool { return field == "tokens" }
	d.Next(view(), only)
	commit("reset", "second", sidecar.Op{Field: "phase", Verb: schema.VerbSet, Value: []byte(`"b"`)})
	changes := d.Next(view(), only)
	if len(changes) != 1 || changes[0].Freshness != reader.Stale || changes[0].Program != "second" || changes[0].Version != own || changes[0].Owner != "cost" {
		t.Errorf("got %+v, want a stale field at its version %v by program second", changes, own)
	}
	if text, err := json.Marshal(changes); err != nil || !bytes.Contains(text, []byte(`"cause":"phase"`)) {
		t.Errorf("got %s, %v, want the cause phase, so that its time and program are not taken for those of owner cost", text, err)
	}

	hook, err := sidecar.Open(t.Context(), dir, nil, "hook", &sidecar.Options{Program: "third"})
	if err != nil {
		t.Fatal(err)
	}
	defer hook.Close()
	fired := sidecar.EventOf(hook, "fired")
	token, err := fired.Begin(t.Context())
	if err == nil {
		_, err = fired.Done(t.Context(), token)
	}
	if err != nil {
		t.Fatal(err)
	}
	if seen, err = view().ObserveFor("lines"); err != nil {
		t.Fatal(err)
	}
	own = commit("count", "writer", sidecar.Op{Field: "lines", Verb: schema.VerbSet, Value: []byte("1"), Seen: seen})
	only = func(_, field string) bool { return field == "lines" }
	d.Next(view(), only)
	before := time.Now()
	if _, err := fired.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	changes = d.Next(view(), only)
	if len(changes) != 1 || changes[0].Freshness != reader.Ambiguous || changes[0].Program != "third" || changes[0].Version != own || changes[0].ChangedAt.Before(before) {
		t.Errorf("got %+v, want an ambiguous field at its version %v by program third after %v", changes, own, before)
	}
}

// Without its lock file, nothing tells whether an owner without a file has written.
func TestAnOwnerWithoutALockFileHasAnUnknownPast(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	err := sidecar.Create(dir, &schema.Declaration{State: "agent", Owners: map[string]schema.Owner{
		"reset": {Fields: map[string]schema.Field{"phase": {Type: schema.TypeString}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, lost := range []bool{false, true} {
		r, err := reader.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		view, err := r.View(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got := explain.Field(view, "phase").Parts[0].LockLost; got != lost {
			t.Errorf("LockLost is %v, want %v", got, lost)
		}
		os.Remove(filepath.Join(dir, ".freehold", "reset.lock"))
	}
}
