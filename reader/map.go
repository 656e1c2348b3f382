package reader

import (
	"errors"
	"fmt"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// Key returns the entry of a key of the map. Raw tells whether the key exists.
func (e Entry) Key(key string) Entry {
	e.level, e.key, e.member = ofKey, key, ""
	return e
}

// Member returns a member at a key: the entry must be one of [Entry.Key]. The value
// of a scalar map is the member "".
func (e Entry) Member(name string) Entry {
	if e.level != ofField {
		e.level, e.member = ofMember, name
	}
	return e
}

// Keys returns the keys of the map, sorted by their bytes; none if it was never
// written. It returns the errors of [Entry.Raw] for a field that is no map, or if
// the sidecar of the keys' owner cannot be used.
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

// Ref returns the incarnation of the key. It returns an error that wraps
// [ErrUnset] and [store.NoKey] if there is no such key, and those of [Entry.Keys].
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

// rows returns the rows of o in the map; none if o has written nothing.
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

// decided returns the entry's key as the owner of the keys has it.
func (e Entry) decided(p place) (store.Row, error) {
	o := e.view.owners[p.owner]
	if _, err := e.rows(o); err != nil {
		return store.Row{}, err
	}
	found, ok := o.stored.Row(e.name, e.key)
	if !ok {
		return store.Row{}, fmt.Errorf("%s: %w: %w: owner %s, which decides the keys, has not created it", e.where(), ErrUnset, store.NoKey, o.Name)
	}
	return found, nil
}

// atKey returns the bytes of o's value at a key.
func (e Entry) atKey(p place, o *owner) ([]byte, error) {
	found, err := e.decided(p)
	if err != nil {
		return nil, err
	}
	if p.field.Value != nil {
		return found.Value, nil
	}
	if o != e.view.owners[p.owner] {
		if _, err := e.rows(o); err != nil {
			return nil, err
		}
		attached, ok := o.stored.Row(e.name, e.key)
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

// A Map is a map of a view, with an E at each key, which has the members of all
// owners. It is as safe for concurrent use as a [View].
type Map[E any] struct{ keys keyed[E] }

type keyed[E any] struct {
	entry Entry
	of    func(Entry) E
}

// MapOf returns the map name of v. It is for generated code.
func MapOf[E any](v *View, name string, of func(Entry) E) Map[E] {
	return Map[E]{keyed[E]{v.Field(name), of}}
}

// Keys returns the keys; see [Entry.Keys].
func (m Map[E]) Keys() ([]string, error) { return m.keys.entry.Keys() }

// Has reports whether key is a key, with errors as [Map.Keys].
func (m Map[E]) Has(key string) (bool, error) {
	_, err := m.keys.entry.Key(key).Ref()
	if errors.Is(err, store.NoKey) {
		return false, nil
	}
	return err == nil, err
}

// Key returns the E of a key. If there is no such key, Get there returns an error
// that wraps [ErrUnset] and [store.NoKey].
func (m Map[E]) Key(key string) E { return m.keys.of(m.keys.entry.Key(key)) }

// Ref returns the incarnation of key, for a commit that means this one and no
// other; see [Entry.Ref].
func (m Map[E]) Ref(key string) (store.Ref, error) { return m.keys.entry.Key(key).Ref() }

// Provenance returns the last change by the owner of the keys; see
// [Entry.Provenance].
func (m Map[E]) Provenance() (Provenance, bool) { return m.keys.entry.Provenance() }
