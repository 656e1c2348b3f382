package sidecar

import (
	"errors"
	"fmt"

	"github.com/freehold-dev/freehold/schema"
)

// An entry is what a map has at a key, taken apart.
type entry struct {
	slot
	object schema.Object // nil if the map has no records
	record bool
}

func newEntry(f schema.Field, s slot) (entry, error) {
	e := entry{slot: s, record: f.Value == nil}
	if !e.record || !s.set {
		return e, nil
	}
	var err error
	e.object, err = schema.ParseObject(s.raw)
	return e, err
}

// get returns the value of a member.
func (e entry) get(member string) slot {
	if !e.record {
		return slot{raw: e.raw, set: e.set}
	}
	raw, ok := e.object.Value(member)
	return slot{raw: raw, set: ok}
}

// with returns the entry with another value for a member. Members that no
// declaration here has stay as they are.
func (e entry) with(member string, value slot) slot {
	switch {
	case !e.record:
		return slot{raw: value.raw, set: value.set}
	case value.set:
		return slot{raw: e.object.With(member, value.raw).Append(nil), set: true}
	}
	return slot{raw: e.object.Without(member).Append(nil), set: true}
}

// GetKey returns what this owner has at a key of its map field: the value of a
// member, or all of it if member is empty. The bytes must not be changed.
func (tx *Tx) GetKey(field, key, member string) (raw []byte, ok bool) {
	tx.check()
	if tx.blind() {
		return nil, false
	}
	f, err := tx.batch.w.field(field)
	if err != nil {
		tx.fail(err)
		return nil, false
	}
	if f.EffectiveKind() != schema.Map {
		tx.fail(fmt.Errorf("%s: field %s: %w", tx.batch.w.file(), field, invalid(fmt.Errorf("it is no map: read it without a key"))))
		return nil, false
	}
	return tx.storedAt(f, spot{tx: tx, field: field, key: key, member: member})
}

// storedAt returns the value at a key of the map f. That there is no such key
// is no error.
func (tx *Tx) storedAt(f schema.Field, s spot) (raw []byte, ok bool) {
	found, err := tx.entry(s.field, s.key, s.at)
	if errors.Is(err, ErrNoKey) || err == nil && s.member == "" {
		return found.raw, found.set
	}
	var e entry
	if err == nil {
		e, err = newEntry(f, found)
		err = invalid(err)
	}
	if err != nil {
		tx.fail(fmt.Errorf("%s: %s: %w", tx.batch.w.file(), s.op("", nil).where(), err))
		return nil, false
	}
	v := e.get(s.member)
	return v.raw, v.set
}
