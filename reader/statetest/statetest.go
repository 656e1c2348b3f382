// Package statetest makes state directories for tests: each is new, filled through
// its owners, and removed when the test ends. It takes no directory, so that no
// test can write into a state that exists. Tests use it through the <state>test
// package that is generated for their state.
package statetest

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
)

// A Maker gathers the settings of a state.
type Maker struct {
	settings []setting
}

// A setting is an operation. Without a verb, it has that of the field's kind.
type setting struct {
	op   sidecar.Op
	err  error
	sees sight
}

// A sight is the part of the dependencies' settings that a writer has seen.
type sight int

const (
	everything sight = iota
	nothingYet       // they were not written yet
	unsaid           // the writer does not say
)

func set[T any](op sidecar.Op, codec schema.Codec[T], values ...T) func(*Maker) {
	var settings []setting
	for _, v := range values {
		raw, err := codec.Append(nil, v)
		op.Value = raw
		settings = append(settings, setting{op: op, err: err})
	}
	return func(m *Maker) { m.settings = append(m.settings, settings...) }
}

// Put returns a setting that gives field the value v. Generated code gives the
// result a type of its own, so that a setting of one state does not fit another.
func Put[T any](field string, codec schema.Codec[T], v T) func(*Maker) {
	return set(sidecar.Op{Field: field}, codec, v)
}

// PutAt is Put for a member at a key of the map field; the member is empty if the
// map holds no records.
func PutAt[T any](field, key, member string, codec schema.Codec[T], v T) func(*Maker) {
	return set(sidecar.Op{Field: field, Key: key, Member: member}, codec, v)
}

// Insert is Put for the elements of a set.
func Insert[T any](field string, codec schema.Codec[T], elements ...T) func(*Maker) {
	return set(sidecar.Op{Field: field, Verb: schema.VerbInsert}, codec, elements...)
}

// Keys is Put for keys of the map field without members.
func Keys(field string, keys ...string) func(*Maker) {
	return func(m *Maker) {
		for _, key := range keys {
			m.settings = append(m.settings, setting{op: sidecar.Op{Field: field, Key: key, Verb: schema.VerbInsert}})
		}
	}
}

// Before returns a setting that is written before all others, so that its
// dependencies are newer than the versions that its writer had seen.
func Before(set func(*Maker)) func(*Maker) { return seen(nothingYet, set) }

// Unobserved returns a setting without observed versions.
func Unobserved(set func(*Maker)) func(*Maker) { return seen(unsaid, set) }

func seen(part sight, set func(*Maker)) func(*Maker) {
	return func(m *Maker) {
		first := len(m.settings)
		set(m)
		for i := range m.settings[first:] {
			m.settings[first+i].sees = part
		}
	}
}

// State returns the path of a new state directory, declared by d, with the
// settings. Each is written through its field's owner by the verb of its kind, in
// the order given: a counter adds up, a max keeps the highest, a once field is
// claimed at the time given. Dependents come after their dependencies, and have
// observed them. First of all, the keys of maps are created. The test fails at once
// if a value does not fit its field. State panics if t's Fatal returns.
func State[S ~func(*Maker)](t testing.TB, d *schema.Declaration, settings []S) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), d.State)
	if err := sidecar.Create(dir, d); err != nil {
		fail(t, err)
	}
	fill(t, dir, d, settings)
	Healthy(t, dir)
	return dir
}

// Instance is State for a declaration that has instances: the instance id in the
// directory has the settings.
func Instance[S ~func(*Maker)](t testing.TB, d *schema.Declaration, id string, settings []S) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), d.State)
	if err := sidecar.CreateInstance(dir, id, d); err != nil {
		fail(t, err)
	}
	name, err := schema.InstanceDir(id)
	if err != nil {
		fail(t, err)
	}
	fill(t, filepath.Join(dir, name), d, settings)
	Healthy(t, dir)
	return dir
}

// fill writes the settings into the state directory dir.
func fill[S ~func(*Maker)](t testing.TB, dir string, d *schema.Declaration, settings []S) {
	t.Helper()
	r, err := reader.OpenAs(dir, d)
	if err != nil {
		fail(t, err)
	}
	defer r.Close()
	made, err := r.View(context.Background())
	if err != nil {
		fail(t, err)
	}
	m := new(Maker)
	for _, set := range settings { // a setting is the caller's code, and so are the methods of t
		set(m)
	}
	for pass := range 3 { // keys of maps, settings of Before, the others
		for _, owner := range upwards(d) {
			view, err := r.View(context.Background())
			if err != nil {
				fail(t, err)
			}
			patch := m.keys(d, owner)
			if pass > 0 {
				patch = m.settingsOf(t, view, owner, pass == 1)
			}
			if len(patch) > 0 {
				write(t, dir, made.StateID(), d, owner, patch)
			}
		}
	}
}

// upwards returns the names of d's owners, dependencies before dependents.
func upwards(d *schema.Declaration) []string {
	var order []string
	var place func(owner string)
	place = func(owner string) {
		if slices.Contains(order, owner) {
			return
		}
		for _, below := range d.OwnersBelow(owner) {
			place(below)
		}
		order = append(order, owner)
	}
	for _, owner := range d.OwnerNames() {
		place(owner)
	}
	return order
}

// keys returns the operations that create the keys of owner's maps of records.
func (m *Maker) keys(d *schema.Declaration, owner string) sidecar.Patch {
	var patch sidecar.Patch
	for _, s := range m.settings {
		f := d.Owners[owner].Fields[s.op.Field]
		if decider, _ := d.OwnerOf(s.op.Field); decider == owner && f.EffectiveKind() == schema.Map && f.Value == nil {
			patch = append(patch, sidecar.Op{Field: s.op.Field, Key: s.op.Key, Verb: schema.VerbInsert})
		}
	}
	return patch
}

// settingsOf returns the settings of owner's fields as operations: those of
// [Before], or the others.
func (m *Maker) settingsOf(t testing.TB, view *reader.View, owner string, before bool) sidecar.Patch {
	t.Helper()
	var patch sidecar.Patch
	for _, s := range m.settings {
		spec, ok := view.Declaration().Owners[owner].Fields[s.op.Field]
		if ok && spec.EffectiveKind() == schema.Map {
			spec, ok = spec.Member(s.op.Member)
		}
		if !ok || before != (s.sees == nothingYet) {
			continue
		}
		if s.op.Verb == "" {
			s.op.Verb = verbs[spec.EffectiveKind()]
		}
		if spec.Dependent() && s.sees != unsaid && s.err == nil {
			s.op.Seen, s.err = view.ObserveFor(s.op.Field)
		}
		if s.err != nil {
			fail(t, fmt.Errorf("setting %s: %w", s.op.Field, s.err))
		}
		patch = append(patch, s.op)
	}
	return patch
}

// verbs has the verb that gives a field of each kind a value. A once field, which
// is claimed, has none.
var verbs = map[schema.Kind]schema.Verb{
	schema.Value:   schema.VerbSet,
	schema.Max:     schema.VerbRaise,
	schema.Min:     schema.VerbLower,
	schema.Counter: schema.VerbAdd,
	schema.Event:   schema.VerbDone,
}

// write applies patch in the state that was made with that id, and in no other that
// has come to dir since.
func write(t testing.TB, dir, made string, d *schema.Declaration, owner string, patch sidecar.Patch) {
	t.Helper()
	w, err := sidecar.Open(context.Background(), dir, d, owner, &sidecar.Options{Program: "statetest"})
	if err != nil {
		fail(t, err)
	}
	defer w.Close()
	if w.StateID() != made {
		fail(t, fmt.Errorf("%s: another state has come to this place since the test made its own: let no setting move directories", dir))
	}
	_, err = w.Update(context.Background(), func(tx *sidecar.Tx) error {
		for _, op := range patch {
			if op.Verb != "" {
				tx.Apply(op)
			}
		}
		return nil
	})
	if err != nil {
		fail(t, err)
	}
	for _, op := range patch {
		if op.Verb == "" {
			claim(t, w, op)
		}
	}
}

// claim claims a once field, at the time that is its value.
func claim(t testing.TB, w *sidecar.Writer, op sidecar.Op) {
	t.Helper()
	at, err := schema.Time.Decode(op.Value)
	if err == nil {
		_, _, err = w.ClaimAt(context.Background(), op.Field, at)
	}
	if err != nil {
		fail(t, err)
	}
}

// fail ends the test. If a testing.TB of the caller's own returns from Fatal, its
// TempDir cannot be trusted either.
func fail(t testing.TB, err error) {
	t.Helper()
	t.Fatal(err)
	panic(err)
}

// View returns a view of the state in dir, taken by a view package's Reader.
// The test fails at once if there is none. View panics if t's Fatal returns.
func View[V any](t testing.TB, open func(dir string) (*reader.Typed[V], error), dir string) V {
	t.Helper()
	r, err := open(dir)
	if err != nil {
		fail(t, err)
	}
	defer r.Close()
	v, err := r.View(context.Background())
	if err != nil {
		fail(t, err)
	}
	return v
}

// ID is the id of the instance that a view package's test views are of.
const ID = "test"

// ViewInstance is View for a state with instances: of the instance [ID] in dir.
func ViewInstance[V any](t testing.TB, open func(dir, id string) (*reader.Typed[V], error), dir string) V {
	t.Helper()
	return View(t, func(dir string) (*reader.Typed[V], error) { return open(dir, ID) }, dir)
}
