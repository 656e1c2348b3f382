package explain_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/reader/explain"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
)

// A change of freshness alone has the time, the program and the version of the
// commit that made it, which is another owner's, and not of the value's own.
func TestAChangeOfFreshnessIsDatedByItsCause(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	err := sidecar.Create(dir, &schema.Declaration{State: "agent", Owners: map[string]schema.Owner{
		"reset": {Fields: map[string]schema.Field{"phase": {Type: schema.TypeString}}},
		"cost":  {Fields: map[string]schema.Field{"tokens": {Type: schema.TypeUint, DependsOn: []string{"phase"}}}},
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
	commit("cost", "writer", sidecar.Op{Field: "tokens", Verb: schema.VerbSet, Value: []byte("1"), Seen: seen})
	var d explain.Differ
	only := func(_, field string) bool { return field == "tokens" }
	d.Next(view(), only)
	cause := commit("reset", "second", sidecar.Op{Field: "phase", Verb: schema.VerbSet, Value: []byte(`"b"`)})
	changes := d.Next(view(), only)
	if len(changes) != 1 || changes[0].Freshness != reader.Stale || changes[0].Program != "second" || changes[0].Version != cause || changes[0].Owner != "cost" {
		t.Errorf("got %+v, want a stale field by version %v of program second", changes, cause)
	}
}
