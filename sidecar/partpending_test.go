package sidecar

import (
	"path/filepath"
	"testing"

	"github.com/freehold-dev/freehold/schema"
	"github.com/google/go-cmp/cmp"
)

// A key that only a patch creates which is deferred is none yet for the other
// owners of the map: they hear so, also when they deferred themselves, and
// nothing of theirs is lost or attached to what may never come. Once the patch
// is folded, what a view showed of it means the key that there is.
func TestAPartWaitsForAKeyThatIsSetPending(t *testing.T) {
	counter := schema.Field{Type: schema.TypeUint, Kind: schema.Counter}
	pending := schema.Busy{Wait: "1ms", Then: schema.Defer}
	d := &schema.Declaration{State: "usage", Owners: map[string]schema.Owner{
		"maker": {Busy: pending, Fields: map[string]schema.Field{"skills": {Kind: schema.Map, Keys: true, Record: map[string]schema.Field{"made": counter}}}},
		"tool":  {Busy: pending, Fields: map[string]schema.Field{"skills": {Kind: schema.Map, Record: map[string]schema.Field{"uses": counter}}}},
	}}
	dir := filepath.Join(t.TempDir(), "state")
	if err := Create(dir, d); err != nil {
		t.Fatal(err)
	}
	writers := map[string]*Writer{}
	for _, owner := range []string{"maker", "tool"} {
		w, err := Open(t.Context(), dir, d, owner, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		writers[owner] = w
	}
	maker, tool := writers["maker"], writers["tool"]
	var created Commit
	locked(t, maker, func() { created = update(t, maker, ops(Op{Field: "skills", Verb: schema.VerbInsert, Key: "deploy"})) })
	if created.Outcome != Deferred {
		t.Fatalf("the key's creation is %v", created.Outcome)
	}
	shown := Ref{Key: "deploy", Incarnation: created.Version} // what a view shows
	use := func(at Version) func(*Tx) error {
		return ops(Op{Field: "skills", Verb: schema.VerbAdd, Key: "deploy", Member: "uses", Value: []byte("1"), At: at})
	}
	refused := func(how string) {
		t.Helper()
		for _, at := range []Version{{}, shown.Incarnation} {
			c, err := tool.Update(t.Context(), use(at))
			wantError(t, err, ErrNoKey, "does not have it")
			if !same(c, Commit{}) {
				t.Errorf("%s: %+v", how, c)
			}
			if how == "with the lock" && at.IsZero() {
				said.Same(t, "update: the key is deferred", err, dir, "STATE")
			}
		}
	}
	refused("with the lock")
	locked(t, tool, func() { refused("deferred") })

	if c := update(t, maker, ops()); c.Folded != 1 {
		t.Fatalf("%d were folded", c.Folded)
	}
	for _, at := range []Version{{}, shown.Incarnation} {
		if c := update(t, tool, use(at)); c.Outcome != Applied {
			t.Errorf("at %v: %v", at, c.Outcome)
		}
		locked(t, tool, func() {
			if c := update(t, tool, use(at)); c.Outcome != Deferred {
				t.Errorf("at %v: %v", at, c.Outcome)
			}
		})
	}
	want := map[string]string{"skills": `{"deploy":{"uses":4}}`}
	if diff := cmp.Diff(want, values(t, tool, "skills")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	// Deleted and created again: the old one is another.
	update(t, maker, ops(Op{Field: "skills", Verb: schema.VerbDelete, Key: "deploy"}))
	update(t, maker, ops(Op{Field: "skills", Verb: schema.VerbInsert, Key: "deploy"}))
	_, err := tool.Update(t.Context(), use(shown.Incarnation))
	wantError(t, err, ErrConflict, "no longer the incarnation")
}
