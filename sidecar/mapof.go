package sidecar

import "github.com/freehold-dev/freehold/schema"

// An Entry is one key of a map in one transaction. Generated types wrap it.
type Entry struct{ entry spot }

func (e Entry) member(name string) spot {
	e.entry.member = name
	return e.entry
}

// A keyed is a map in one transaction, whose entries are of type E.
type keyed[E any] struct {
	tx    *Tx
	field string
	entry func(Entry) E
}

func (k keyed[E]) key(key string) E {
	return k.entry(Entry{spot{tx: k.tx, field: k.field, key: key}})
}

func (k keyed[E]) at(ref Ref) E {
	return k.entry(Entry{spot{tx: k.tx, field: k.field, key: ref.Key, at: ref.Incarnation}})
}

// A Map is a map of this owner's keys. An E is the entry at a key.
type Map[E any] struct{ keys keyed[E] }

// MapOf returns the handle of a map in tx. It is for generated code.
func MapOf[E any](tx *Tx, field string, entry func(Entry) E) Map[E] {
	return Map[E]{keyed[E]{tx, field, entry}}
}

// Key returns the entry at key. A write to the entry creates a missing key.
func (m Map[E]) Key(key string) E { return m.keys.key(key) }

// At returns the entry of the incarnation of a key that a view showed. If that
// incarnation is gone, a use of the entry fails the Update with [ErrConflict].
func (m Map[E]) At(ref Ref) E { return m.keys.at(ref) }

// Keys returns the keys under the owner's lock, sorted by their bytes.
func (m Map[E]) Keys() []string { return m.keys.tx.Keys(m.keys.field) }

// Ref returns the present incarnation of key, or false if there is none.
func (m Map[E]) Ref(key string) (ref Ref, ok bool) { return m.keys.tx.Ref(m.keys.field, key) }

// Insert makes key a key. Where it is one already, nothing changes.
func (m Map[E]) Insert(key string) {
	m.keys.tx.Apply(Op{Field: m.keys.field, Verb: schema.VerbInsert, Key: key})
}

// Delete deletes key with the parts of all owners. A key that is created
// afterwards is another incarnation, without those parts. A missing key is left
// alone.
func (m Map[E]) Delete(key string) {
	m.keys.tx.Apply(Op{Field: m.keys.field, Verb: schema.VerbDelete, Key: key})
}

// DeleteAt is Delete for the incarnation of a key that a view showed. If that is
// gone, the Update fails with [ErrConflict].
func (m Map[E]) DeleteAt(ref Ref) {
	m.keys.tx.Apply(Op{Field: m.keys.field, Verb: schema.VerbDelete, Key: ref.Key, At: ref.Incarnation})
}

// A Part is this owner's part of a map of another owner's keys. The
// part at a key vanishes with the key.
//
// The keys are those in the other owner's sidecar. A key that only a pending
// patch creates is in views and not here: it has no incarnation before a commit
// folds the patch. Until then a write at the key fails with [ErrNoKey].
type Part[E any] struct{ part keyed[E] }

// PartOf returns the handle of an owner's part of a map in tx. It is for
// generated code.
func PartOf[E any](tx *Tx, field string, entry func(Entry) E) Part[E] {
	return Part[E]{keyed[E]{tx, field, entry}}
}

// Key returns the part at key, in the incarnation that there was when the Update
// began. If there was none, a write fails the Update with [ErrNoKey].
func (p Part[E]) Key(key string) E { return p.part.key(key) }

// At returns the part at the incarnation of a key that a view showed. If that is
// gone, a use of the part fails the Update with [ErrConflict], and if the key is
// only deferred, with [ErrNoKey].
func (p Part[E]) At(ref Ref) E { return p.part.at(ref) }

// Keys returns the keys that there were when the Update began, sorted by their
// bytes.
func (p Part[E]) Keys() []string { return p.part.tx.Keys(p.part.field) }

// Ref returns the incarnation of key that there was when the Update began, or
// false if there was none.
func (p Part[E]) Ref(key string) (ref Ref, ok bool) { return p.part.tx.Ref(p.part.field, key) }
