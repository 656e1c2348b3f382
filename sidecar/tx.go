package sidecar

import (
	"bytes"
	"fmt"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/document"
)

// A Version names one state of an owner's sidecar.
type Version = document.Version

// A Tx is what an [Writer.Update] function works on: the owner's own fields as
// they stand under its lock. It is valid until the function returns and only
// in the goroutine that runs it; a Tx that was kept, and the zero Tx, panic.
// A Tx remembers its first error, which Update then returns.
type Tx struct {
	batch   *batch
	changes map[string]slot
	err     error
	done    bool
}

// check panics if the programmer uses tx where there is no transaction.
func (tx *Tx) check() {
	if tx == nil || tx.batch == nil {
		panic("freehold: the zero Tx was used: a Tx comes from Update")
	}
	if tx.done {
		panic("freehold: a Tx was used after its Update returned")
	}
}

// Version returns the version that the values in tx have: the sidecar's, or
// the one that it will have if an Update that shares this commit has changed
// something already. It is zero if nothing was ever written.
func (tx *Tx) Version() Version {
	tx.check()
	return tx.batch.version()
}

// IfVersion makes the commit conditional: unless the sidecar is at version v,
// Update returns [ErrConflict] and changes nothing.
func (tx *Tx) IfVersion(v Version) {
	tx.check()
	if have := tx.batch.version(); have != v {
		tx.fail(fmt.Errorf("%s: %w: it is at version %v, not at %v: read it again and decide anew", tx.batch.w.file(), ErrConflict, have, v))
	}
}

// Get returns the stored value of a field of this owner and whether it is set.
// The bytes must not be changed.
func (tx *Tx) Get(field string) (raw []byte, ok bool) {
	tx.check()
	if _, err := tx.batch.w.field(field); err != nil {
		tx.fail(err)
		return nil, false
	}
	s := tx.slot(field)
	return s.raw, s.set
}

func (tx *Tx) slot(field string) slot {
	if s, ok := tx.changes[field]; ok {
		return s
	}
	return tx.batch.slot(field)
}

// Apply carries out op. If it cannot, the Update will fail with an error that
// names the field.
func (tx *Tx) Apply(op Op) {
	tx.check()
	f, err := tx.batch.w.field(op.Field)
	if err != nil {
		tx.fail(err)
		return
	}
	s, err := apply(f, op, tx.slot(op.Field))
	if err != nil {
		tx.fail(fmt.Errorf("%s: field %s: %w: %w", tx.batch.w.file(), op.Field, ErrValue, err))
		return
	}
	if tx.changes == nil {
		tx.changes = map[string]slot{}
	}
	tx.changes[op.Field] = s
}

func (tx *Tx) fail(err error) {
	if tx.err == nil {
		tx.err = err
	}
}

// field returns the declaration of the owner's field name.
func (w *Writer) field(name string) (schema.Field, error) {
	if f, ok := w.declared.Fields[name]; ok {
		return f, nil
	}
	if other, ok := w.manifest.Declaration.OwnerOf(name); ok {
		return schema.Field{}, fmt.Errorf("field %s: %w: it belongs to owner %s, and owner %s may not write it", name, ErrNotOwner, other, w.owner)
	}
	return schema.Field{}, fmt.Errorf("field %s: %w: no owner of state %s declares it; add it to owners.yaml", name, ErrNotOwner, w.manifest.Declaration.State)
}

// equal reports whether two slots hold the same value: every value has one
// stored form, so equal values have equal bytes.
func (s slot) equal(t slot) bool { return s.set == t.set && bytes.Equal(s.raw, t.raw) }
