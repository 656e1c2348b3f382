package reader

import (
	"errors"

	"github.com/freehold-dev/freehold/sidecar/store"
)

// A Map is a map of a view. What it has at a key is an E, with the members of
// all the map's owners. It is as safe for concurrent use as a [View].
type Map[E any] struct{ keys keyed[E] }

type keyed[E any] struct {
	entry Entry
	of    func(Entry) E
}

// MapOf returns the map name of v. It is for generated code.
func MapOf[E any](v *View, name string, of func(Entry) E) Map[E] {
	return Map[E]{keyed[E]{v.Field(name), of}}
}

// Keys returns the keys, sorted by their bytes; none if the map was never
// written. It returns an error that wraps store.Invalid,
// store.Foreign, store.Regressed or store.Unreadable if the
// sidecar of the owner that decides the keys is that.
func (m Map[E]) Keys() ([]string, error) { return m.keys.entry.Keys() }

// Has reports whether key is a key, with errors as [Map.Keys].
func (m Map[E]) Has(key string) (bool, error) {
	_, err := m.keys.entry.Key(key).Ref()
	if errors.Is(err, store.NoKey) {
		return false, nil
	}
	return err == nil, err
}

// Key returns what the map has at key. If there is no such key, Get there
// returns an error that wraps [ErrUnset] and store.NoKey.
func (m Map[E]) Key(key string) E { return m.keys.of(m.keys.entry.Key(key)) }

// Ref returns the incarnation of key that the view shows, by which a commit can
// mean this one and no other. Its errors are those of [Map.Keys] and, if there
// is no such key, one that wraps [ErrUnset] and store.NoKey.
func (m Map[E]) Ref(key string) (store.Ref, error) { return m.keys.entry.Key(key).Ref() }

// Provenance returns who changed the keys, or something of what their owner
// has there, last; see [Entry.Provenance].
func (m Map[E]) Provenance() (Provenance, bool) { return m.keys.entry.Provenance() }
