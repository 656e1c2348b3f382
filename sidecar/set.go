package sidecar

import (
	"github.com/freehold-dev/freehold/schema"
)

// A Set is a field with elements that come and go one by one.
type Set[T any] struct{ elements cell[T] }

// SetOf returns the handle of a set in tx; codec is that of an element. It is
// for generated code.
func SetOf[T any](tx *Tx, field string, codec schema.Codec[T]) Set[T] {
	return Set[T]{cell[T]{spot{tx: tx, field: field}, codec}}
}

// Insert puts element into the set. Where it is there already, nothing
// changes. An element that the set cannot hold fails the Update with
// [ErrValue].
func (e Set[T]) Insert(element T) { e.elements.apply(schema.VerbInsert, element) }

// Remove takes element out of the set. Where it is not there, nothing changes.
func (e Set[T]) Remove(element T) { e.elements.apply(schema.VerbRemove, element) }

// Has reports whether element is in the set under the owner's lock.
func (e Set[T]) Has(element T) bool {
	e.elements.tx.check()
	if e.elements.tx.blind() {
		return false
	}
	raw, err := e.elements.codec.Append(nil, element)
	if err != nil {
		e.elements.fail(err)
		return false
	}
	has, err := e.elements.tx.has(e.elements.field, raw)
	if err != nil {
		e.elements.fail(err)
	}
	return has
}

func (tx *Tx) has(field string, raw []byte) (bool, error) { return tx.layer.Has(field, raw) }

// All returns the elements under the owner's lock: numbers, instants and
// durations by size, others by the bytes of their text.
func (e Set[T]) All() []T {
	raw, ok := e.elements.tx.Get(e.elements.field)
	if !ok {
		return nil
	}
	all, err := schema.ListOf(e.elements.codec).Decode(raw)
	if err != nil {
		e.elements.fail(err)
		return nil
	}
	return all
}
