package sidecar

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/pending"
	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
)

// setters declares an owner that defers, one of a map's parts that
// does, and the owner of that map's keys.
func setters() *schema.Declaration {
	counter := schema.Field{Type: schema.TypeUint, Kind: schema.Counter}
	pending := schema.Busy{Wait: "20ms", Then: schema.Defer}
	return &schema.Declaration{State: "usage", Owners: map[string]schema.Owner{
		"tool": {Busy: pending, Fields: map[string]schema.Field{
			"n":      counter,
			"small":  {Type: schema.TypeInt, Kind: schema.Counter},
			"peak":   {Type: schema.TypeInt, Kind: schema.Max},
			"tags":   {Type: schema.TypeString, Kind: schema.Set},
			"own":    {Kind: schema.Map, Record: map[string]schema.Field{"uses": counter}},
			"skills": {Kind: schema.Map, Record: map[string]schema.Field{"uses": counter}},
		}},
		"maker": {Fields: map[string]schema.Field{
			"skills": {Kind: schema.Map, Keys: true, Record: map[string]schema.Field{"by": {Type: schema.TypeString}}},
		}},
		"light": {Busy: pending, Durability: schema.Process, Fields: map[string]schema.Field{"ticks": counter}},
	}}
}

func newSetters(t *testing.T) (dir string, tool *Writer) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "state")
	if err := Create(dir, setters()); err != nil {
		t.Fatal(err)
	}
	return dir, openSetter(t, dir, "tool", nil)
}

func openSetter(t *testing.T, dir, owner string, o *Options) *Writer {
	t.Helper()
	w, err := Open(t.Context(), dir, setters(), owner, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

// locked runs fn while somebody else holds the lock of w's owner.
func locked(t *testing.T, w *Writer, fn func()) {
	t.Helper()
	other, err := Open(t.Context(), w.dir.Path(), nil, w.owner, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := other.lock.Acquire(t.Context(), time.Minute); err != nil {
		t.Fatal(err)
	}
	fn()
	if err := other.lock.Release(); err != nil {
		t.Fatal(err)
	}
}

func ops(all ...Op) func(*Tx) error {
	return func(tx *Tx) error {
		for _, op := range all {
			tx.Apply(op)
		}
		return nil
	}
}

func op(field string, verb schema.Verb, value string) Op {
	return Op{Field: field, Verb: verb, Value: []byte(value)}
}

func deferUpdate(t *testing.T, w *Writer, all ...Op) Version {
	t.Helper()
	var c Commit
	locked(t, w, func() { c = update(t, w, ops(all...)) })
	if c.Outcome != Deferred || !c.Version.IsPending() {
		t.Fatalf("the commit is %+v, want it deferred", c)
	}
	return c.Version
}

// values returns what fields hold, after a commit that changes nothing.
func values(t *testing.T, w *Writer, fields ...string) map[string]string {
	t.Helper()
	got := map[string]string{}
	update(t, w, func(tx *Tx) error {
		for _, field := range fields {
			if raw, ok := tx.Get(field); ok {
				got[field] = string(raw)
			}
		}
		return nil
	})
	return got
}

// openPending opens what w's owner has deferred, until the test ends.
func openPending(t testing.TB, w *Writer) *statedir.PendingDir {
	t.Helper()
	a, err := w.dir.OpenPending(w.manifest, w.owner)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}

func pendingNames(t *testing.T, w *Writer) []string {
	t.Helper()
	a, err := w.dir.OpenPending(w.manifest, w.owner)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close() // it is called in loops
	names, err := a.Names()
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func nonePending(t *testing.T, w *Writer) {
	t.Helper()
	if names := pendingNames(t, w); len(names) > 0 {
		t.Errorf("still deferred: %v", names)
	}
}

// shown returns the value of w's field in a view: with pending patches folded.
func shown(t *testing.T, w *Writer, field string) string {
	t.Helper()
	a := openPending(t, w)
	mine, err := w.keysOf(w.owner, new(neighbour)).Doc()
	if err != nil {
		t.Fatal(err)
	}
	var patches []*pending.Patch
	for _, name := range pendingNames(t, w) {
		p, err := pending.Decode([]byte(readFile(t, a.Path(name))), name, w.owner, w.manifest.StateID)
		if err != nil {
			t.Fatal(err)
		}
		if !mine.HasFolded(p.ID) {
			patches = append(patches, p)
		}
	}
	whole, outs := pending.Overlay(w.manifest, w.owner, mine, patches)
	if len(outs) > 0 {
		t.Error(outs)
	}
	return string(whole.Value(field))
}
