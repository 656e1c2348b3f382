package sidecar

import (
	"fmt"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/document"
	"github.com/go-json-experiment/json/jsontext"
)

// A Ref names one incarnation of a key: a key that is deleted and created
// again is another one. A view says which it shows.
type Ref struct {
	Key         string  `json:"key"`
	Incarnation Version `json:"incarnation"`
}

// renderMap returns rows as the value of a map.
func renderMap(rows []document.Row) []byte {
	raw := []byte{'{'}
	for i, row := range rows {
		if i > 0 {
			raw = append(raw, ',')
		}
		raw, _ = jsontext.AppendQuote(raw, row.Key) // valid UTF-8: it was a key before
		raw = append(append(raw, ':'), row.Value...)
	}
	return append(raw, '}')
}

// decides reports whether this owner decides the keys of the map field, and
// who does.
func (tx *Tx) decides(field string) (decider string, own bool) {
	w := tx.batch.w
	decider, _ = w.manifest.Declaration.OwnerOf(field)
	return decider, decider == w.owner
}

// entry returns what this owner has at a key of a map, in the incarnation that
// is meant: at, or if that is zero, the present one. For the owner of the keys
// a key may be absent; for the others the owner of the keys must have it, and
// what they have is of the incarnation as their Update found it, even if they
// have nothing there.
func (tx *Tx) entry(field, key string, at Version) (slot, error) {
	if err := schema.CheckKey(key); err != nil {
		return slot{}, invalid(err)
	}
	if err := tx.batch.table(field).err; err != nil {
		return slot{}, invalid(err)
	}
	if !tx.born.IsZero() {
		return tx.joined(field, key, at)
	}
	own := tx.slot(place{field, key})
	owner, decides := tx.decides(field)
	if decides {
		if !at.IsZero() && !(own.set && means(at, own.born)) {
			return slot{}, fmt.Errorf("%w: it is no longer the incarnation %v: look at the map again", ErrConflict, at)
		}
		return own, nil
	}
	seen := tx.others[owner]
	keys, err := seen.keys(field)
	if err != nil {
		return slot{}, err
	}
	now := keys.slot(key)
	if err := tx.attaches(owner, now, at); err != nil {
		return slot{}, err
	}
	switch {
	case !own.set || seen.outlived(now, own.born):
		return slot{born: now.born}, nil
	case own.born != now.born:
		return slot{}, fmt.Errorf("%w: the key was created again while this Update waited: call it again", ErrConflict)
	}
	return own, nil
}

// attaches says why another owner than decider cannot have anything at a key
// that decider's sidecar has so. A key that is created by a patch which is set
// pending is in views, and in no sidecar: until a commit of decider folds it,
// there is no version for what others have there to go by, and whether the patch
// is folded at all, only that commit says.
func (tx *Tx) attaches(decider string, now slot, at Version) error {
	switch {
	case now.set && (at.IsZero() || means(at, now.born)):
		return nil
	case !at.IsZero() && (now.set || !at.IsPending()):
		return fmt.Errorf("%w: it is no longer the incarnation %v: look at the map again", ErrConflict, at)
	case tx.batch.w.manifest.Declaration.Owners[decider].Defers():
		return fmt.Errorf("%w: the sidecar of owner %s, which decides the keys, does not have it: let %s create it first, or if it is deferred, run `freehold fold %s` and look at the map again", ErrNoKey, decider, decider, decider)
	default:
		return fmt.Errorf("%w: owner %s, which decides the keys, has not created it: let it create the key first", ErrNoKey, decider)
	}
}

// stored returns the value at s and whether it is set.
func (tx *Tx) stored(s spot) (raw []byte, ok bool) {
	tx.check()
	if tx.blind() {
		return nil, false
	}
	f, err := tx.batch.w.field(s.field)
	if err != nil {
		tx.fail(err)
		return nil, false
	}
	if f.EffectiveKind() != schema.Map {
		return tx.Get(s.field)
	}
	return tx.storedAt(f, s)
}

// applyKey carries out op on a map.
func (tx *Tx) applyKey(f schema.Field, op Op, carried bool) error {
	entry, err := tx.entry(op.Field, op.Key, op.At)
	if err != nil {
		return err
	}
	if op.Verb == VerbDelete || op.Verb == VerbInsert && op.Member == "" {
		return tx.applyWhole(f, op, entry)
	}
	spec, err := tx.member(f, op)
	if err != nil {
		return err
	}
	e, err := newEntry(f, entry)
	if err != nil {
		return invalid(err)
	}
	old := e.get(op.Member)
	known := tx.batch.w.knows(op.Field, f)
	if member, ok := known.Member(op.Member); ok {
		known = member
	} else {
		known = spec
	}
	value, err := subject{spec, known, old, carried}.apply(op)
	switch {
	case err != nil:
		return invalid(err)
	case value.equal(old):
		return nil
	}
	return tx.put(op, entry, e.with(op.Member, value))
}

// put stores what an operation made of an entry.
func (tx *Tx) put(op Op, old, entry slot) error {
	_, decides := tx.decides(op.Field)
	if entry.born = old.born; decides && !old.set {
		if entry.born = tx.batch.next; !tx.born.IsZero() {
			entry.born = tx.born
		}
	}
	if !decides && string(entry.raw) == "{}" {
		entry = slot{} // nothing is attached any more
	}
	if entry.set && !old.set && !tx.room(op.Field, schema.MaxKeys) {
		return invalid(fmt.Errorf("more than the %d keys allowed: delete some", schema.MaxKeys))
	}
	tx.change(place{op.Field, op.Key}, entry)
	return nil
}

// applyWhole creates or deletes a key.
func (tx *Tx) applyWhole(f schema.Field, op Op, entry slot) error {
	switch err := tx.mayWhole(f, op); {
	case err != nil:
		return err
	case op.Verb == VerbDelete:
		tx.change(place{op.Field, op.Key}, slot{})
		return nil
	case entry.set:
		return nil
	}
	return tx.put(op, entry, slot{raw: []byte("{}"), set: true})
}

// mayWhole says why op may not create or delete a key of the map f.
func (tx *Tx) mayWhole(f schema.Field, op Op) error {
	owner, decides := tx.decides(op.Field)
	switch {
	case !decides:
		return fmt.Errorf("%w: owner %s decides which keys the map has: let it %s the key", ErrNotOwner, owner, op.Verb)
	case len(op.Value) > 0 || op.Member != "":
		return invalid(fmt.Errorf("%s is for the whole key: leave out the member and the value", op.Verb))
	case op.Verb == VerbInsert && f.Value != nil:
		return invalid(fmt.Errorf("a key of this map has a value: use %s", verbsOf[f.Value.EffectiveKind()]))
	}
	return nil
}

// member returns what the manifest says of the member that op is about.
func (tx *Tx) member(f schema.Field, op Op) (schema.Field, error) {
	if spec, ok := f.Member(op.Member); ok {
		return spec, nil
	}
	d := &tx.batch.w.manifest.Declaration
	switch {
	case f.Value != nil:
		return schema.Field{}, invalid(fmt.Errorf("what this map has at a key has no members: leave out the member"))
	case op.Member == "":
		return schema.Field{}, invalid(fmt.Errorf("say which member, or use insert or delete"))
	}
	for _, other := range d.OwnersOf(op.Field) {
		if _, ok := d.Owners[other].Fields[op.Field].Member(op.Member); ok {
			return schema.Field{}, fmt.Errorf("%w: the member belongs to owner %s, and owner %s may not write it", ErrNotOwner, other, tx.batch.w.owner)
		}
	}
	return schema.Field{}, fmt.Errorf("%w: no owner of state %s declares the member; add it to owners.yaml", ErrNotOwner, d.State)
}
