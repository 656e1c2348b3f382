package sidecar

import (
	"fmt"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// A Ref names one incarnation of a key of a map.
type Ref = store.Ref

// GetKey returns the owner's part at a key of its map field: the value of a
// member, or all of it if member is empty. The bytes must not be changed.
func (tx *Tx) GetKey(field, key, member string) (raw []byte, ok bool) {
	return tx.stored(spot{tx: tx, field: field, key: key, member: member})
}

// stored returns the value at s and whether it is set.
func (tx *Tx) stored(s spot) (raw []byte, ok bool) {
	if tx.blind() {
		return nil, false
	}
	f, err := tx.batch.w.rules.Field(s.field)
	if err != nil {
		tx.fail(err)
		return nil, false
	}
	if f.EffectiveKind() != schema.Map && s.key == "" {
		return tx.Get(s.field)
	}
	op := s.op("", nil)
	if raw, ok, err = tx.layer.GetKey(op); err != nil {
		tx.failAt(op, err)
	}
	return raw, ok
}

// Keys returns the keys of the map field, sorted by their bytes: as they stand
// if this owner decides them, else as they were when the Update began.
func (tx *Tx) Keys(field string) []string {
	if !tx.mapped(field) {
		return nil
	}
	rows, err := tx.layer.KeyRows(field)
	if err != nil {
		tx.failAt(Op{Field: field}, err)
		return nil
	}
	names := make([]string, len(rows))
	for i, row := range rows {
		names[i] = row.Key
	}
	return names
}

// Ref returns the incarnation of a key of the map field, or false if there is
// none; it is of the same moment as [Tx.Keys].
func (tx *Tx) Ref(field, key string) (ref Ref, ok bool) {
	if !tx.mapped(field) {
		return Ref{}, false
	}
	born, ok, err := tx.layer.Incarnation(field, key)
	if err != nil {
		tx.failAt(Op{Field: field}, err)
	}
	return Ref{Key: key, Incarnation: born}, ok
}

// mapped reports whether the field is a map of this owner that can be read, and
// fails if not. The keys of other owners are read without the lock.
func (tx *Tx) mapped(field string) bool {
	tx.check()
	f, err := tx.batch.w.rules.Field(field)
	switch {
	case err != nil:
		tx.fail(err)
		return false
	case f.EffectiveKind() != schema.Map:
		tx.failAt(Op{Field: field}, invalid(fmt.Errorf("it is no map: read it with Get")))
		return false
	}
	_, decides := tx.batch.w.rules.KeysOwner(field)
	return !decides || !tx.blind()
}
