package reader

import (
	"fmt"
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// Key returns what the map has at key; whether there is such a key, Raw says.
func (e Entry) Key(key string) Entry {
	e.level, e.key, e.member = ofKey, key, ""
	return e
}

// Member returns a member of what a map has at a key: the entry must be one
// that [Entry.Key] returned. What a scalar map has is the member "".
func (e Entry) Member(name string) Entry {
	if e.level != ofField {
		e.level, e.member = ofMember, name
	}
	return e
}

// Keys returns the keys of the map, sorted by their bytes; none if it was
// never written. It returns an error as [Entry.Raw] does if the field is no
// map, or if the sidecar of the owner that decides the keys cannot be used.
func (e Entry) Keys() ([]string, error) {
	p, err := e.place()
	if err != nil {
		return nil, err
	}
	if p.field.EffectiveKind() != schema.Map {
		return nil, fmt.Errorf("field %s: %w: it is no map and has no keys: read it without one", e.name, ErrUnknownField)
	}
	rows, err := e.rows(e.view.owners[p.owner])
	keys := make([]string, len(rows))
	for i, row := range rows {
		keys[i] = row.Key
	}
	return keys, err
}

// Ref returns the incarnation of the key that the view shows. It returns an
// error that wraps [ErrUnset] and store.NoKey if there is no such key, and
// others as [Entry.Keys] does.
func (e Entry) Ref() (store.Ref, error) {
	p, err := e.place()
	if err != nil {
		return store.Ref{}, err
	}
	if _, _, err := e.find(); err != nil {
		return store.Ref{}, err
	}
	row, err := e.decided(p)
	return store.Ref{Key: e.key, Incarnation: row.Born}, err
}

// rows returns what o has in the map; none if it has written nothing.
func (e Entry) rows(o *owner) ([]store.Row, error) {
	if o.Err != nil {
		return nil, fmt.Errorf("%s: %w", e.where(), o.Err)
	}
	rows, err := o.stored.Rows(e.name)
	if err != nil {
		return nil, e.misfit(o, err)
	}
	return rows, nil
}

func row(rows []store.Row, key string) (store.Row, bool) {
	i, ok := slices.BinarySearchFunc(rows, key, func(row store.Row, key string) int { return strings.Compare(row.Key, key) })
	if !ok {
		return store.Row{}, false
	}
	return rows[i], true
}

// decided returns the entry's key as the owner of the keys has it.
func (e Entry) decided(p place) (store.Row, error) {
	o := e.view.owners[p.owner]
	rows, err := e.rows(o)
	if err != nil {
		return store.Row{}, err
	}
	found, ok := row(rows, e.key)
	if !ok {
		return store.Row{}, fmt.Errorf("%s: %w: %w: owner %s, which decides the keys, has not created it", e.where(), ErrUnset, store.NoKey, o.Name)
	}
	return found, nil
}

// atKey returns the bytes of one value at a key, which is o's.
func (e Entry) atKey(p place, o *owner) ([]byte, error) {
	found, err := e.decided(p)
	if err != nil {
		return nil, err
	}
	if p.field.Value != nil {
		return found.Value, nil
	}
	if o != e.view.owners[p.owner] {
		rows, err := e.rows(o)
		if err != nil {
			return nil, err
		}
		attached, ok := row(rows, e.key)
		if !ok || attached.Born != found.Born {
			return nil, fmt.Errorf("%s: %w: owner %s has not written it", e.where(), ErrUnset, o.Name)
		}
		found = attached
	}
	object, err := schema.ParseObject(found.Value)
	if err != nil {
		return nil, e.misfit(o, err)
	}
	raw, ok := object.Value(e.member)
	if !ok {
		return nil, fmt.Errorf("%s: %w: owner %s has not written it", e.where(), ErrUnset, o.Name)
	}
	return raw, nil
}
