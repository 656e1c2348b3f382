// Package statetest makes state directories for tests: each is new, filled
// through its owners, and gone when the test ends. It takes no directory, so
// nothing that uses it can write into a state that exists. Tests use it
// through the <state>test package that is generated for their state.
package statetest

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
)

// A Maker gathers the settings of one state that is to be made. It has no use
// but to be what settings work on.
type Maker struct {
	settings []setting
}

type setting struct {
	field string
	value jsontext.Value
	err   error
}

// Put returns a setting: it gives field the value v. It is for generated
// code, which gives the result a type of its own, so that a setting of one
// state does not fit another.
func Put[T any](field string, codec schema.Codec[T], v T) func(*Maker) {
	raw, err := codec.Append(nil, v)
	return func(m *Maker) { m.settings = append(m.settings, setting{field, raw, err}) }
}

// State returns the path of a new state directory, declared by d, that holds
// the settings. Each is written through its field's owner by the verb of its
// kind, in the order given: a counter adds up, a max keeps the highest. The
// test fails at once if a setting's value does not fit its field.
func State[S ~func(*Maker)](t testing.TB, d *schema.Declaration, settings []S) string {
	t.Helper()
	m := new(Maker)
	for _, set := range settings {
		set(m)
	}
	dir := filepath.Join(t.TempDir(), d.State)
	if err := sidecar.Create(dir, d); err != nil {
		t.Fatal(err)
	}
	for _, owner := range d.OwnerNames() {
		if patch := m.patch(t, d, owner); len(patch) > 0 {
			write(t, dir, d, owner, patch)
		}
	}
	return dir
}

// patch returns the settings of owner's fields as operations.
func (m *Maker) patch(t testing.TB, d *schema.Declaration, owner string) sidecar.Patch {
	t.Helper()
	var patch sidecar.Patch
	for _, s := range m.settings {
		field, ok := d.Owners[owner].Fields[s.field]
		if !ok {
			continue
		}
		if s.err != nil {
			t.Fatalf("setting %s: %v", s.field, s.err)
		}
		patch = append(patch, sidecar.Op{Field: s.field, Verb: verbs[field.EffectiveKind()], Value: s.value})
	}
	return patch
}

// verbs has, for each kind, the verb that gives a field a value.
var verbs = map[schema.Kind]sidecar.Verb{
	schema.Value:   sidecar.Set,
	schema.Max:     sidecar.Raise,
	schema.Min:     sidecar.Lower,
	schema.Counter: sidecar.Add,
}

func write(t testing.TB, dir string, d *schema.Declaration, owner string, patch sidecar.Patch) {
	t.Helper()
	w, err := sidecar.Open(context.Background(), dir, d, owner, &sidecar.Options{Program: "statetest"})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	_, err = w.Update(context.Background(), func(tx *sidecar.Tx) error {
		for _, op := range patch {
			tx.Apply(op)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A Reader is a view package's Reader, whose views are of type V.
type Reader[V any] interface {
	View(context.Context) (V, error)
	Close() error
}

// View returns a view of the state in dir, taken by a view package's Reader.
func View[R Reader[V], V any](t testing.TB, open func(dir string) (R, error), dir string) V {
	t.Helper()
	r, err := open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	v, err := r.View(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return v
}
