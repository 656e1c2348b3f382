package sidecar

import (
	"fmt"

	"github.com/freehold-dev/freehold/schema"
)

// A sighting is the observation of the fields that one field depends on.
// Generated code has a type of it for each such field, so that an observation
// for another field does not compile.
type sighting interface{ Seen() Seen }

// A dependentCell is a cell that is written with an earlier observation.
type dependentCell[S sighting, T any] struct{ cell[T] }

func (c dependentCell[S, T]) apply(verb schema.Verb, seen S, v T) {
	c.tx.check()
	if seen.Seen().IsZero() {
		c.tx.fail(fmt.Errorf("%s: %s: %w: the zero token was given: take one from a view before the data is produced", c.tx.batch.w.path, c.op("", nil).Where(), ErrNotObserved))
		return
	}
	raw, err := c.codec.Append(nil, v)
	if err != nil {
		c.fail(err)
		return
	}
	op := c.op(verb, raw)
	op.Seen = seen.Seen()
	c.tx.apply(op, true)
}

// A DependentValue is a [Value] that is computed from fields of other owners.
type DependentValue[S sighting, T any] struct{ dependentValue dependentCell[S, T] }

// DependentValueOf returns the handle of field in tx. It is for generated code.
func DependentValueOf[S sighting, T any](tx *Tx, field string, codec schema.Codec[T]) DependentValue[S, T] {
	return DependentValue[S, T]{dependentCell[S, T]{cell[T]{spot{tx: tx, field: field}, codec}}}
}

// Get returns the field's value under the owner's lock and whether it is set.
func (v DependentValue[S, T]) Get() (value T, ok bool) { return v.dependentValue.get() }

// Set gives the field a value that was produced after seen was observed. The
// zero S fails the Update with [ErrNotObserved], and so does one of another
// state; a value that the field cannot hold with [ErrValue].
func (v DependentValue[S, T]) Set(seen S, value T) {
	v.dependentValue.apply(schema.VerbSet, seen, value)
}

// Clear makes the field unset, which is computed from nothing.
func (v DependentValue[S, T]) Clear() { v.dependentValue.clear() }

// A DependentMax is a [Max] that is computed from fields of other owners.
type DependentMax[S sighting, T any] struct{ dependentMax dependentCell[S, T] }

// DependentMaxOf returns the handle of field in tx. It is for generated code.
func DependentMaxOf[S sighting, T any](tx *Tx, field string, codec schema.Codec[T]) DependentMax[S, T] {
	return DependentMax[S, T]{dependentCell[S, T]{cell[T]{spot{tx: tx, field: field}, codec}}}
}

// Get returns the field's value under the owner's lock and whether it is set.
func (m DependentMax[S, T]) Get() (value T, ok bool) { return m.dependentMax.get() }

// Raise moves the field up to value, which was produced after seen was observed.
// A field beyond value keeps its observation; a field equal to value takes seen.
// Raise fails like [DependentValue.Set].
func (m DependentMax[S, T]) Raise(seen S, value T) {
	m.dependentMax.apply(schema.VerbRaise, seen, value)
}

// A DependentMin is a [Min] that is computed from fields of other owners.
type DependentMin[S sighting, T any] struct{ dependentMin dependentCell[S, T] }

// DependentMinOf returns the handle of field in tx. It is for generated code.
func DependentMinOf[S sighting, T any](tx *Tx, field string, codec schema.Codec[T]) DependentMin[S, T] {
	return DependentMin[S, T]{dependentCell[S, T]{cell[T]{spot{tx: tx, field: field}, codec}}}
}

// Get returns the field's value under the owner's lock and whether it is set.
func (m DependentMin[S, T]) Get() (value T, ok bool) { return m.dependentMin.get() }

// Lower moves the field down to value, as [DependentMax.Raise] moves up.
func (m DependentMin[S, T]) Lower(seen S, value T) {
	m.dependentMin.apply(schema.VerbLower, seen, value)
}

// A DependentCounter is a [Counter] that is computed from fields of other
// owners. Its observation is that of the last Add.
type DependentCounter[S sighting, T any] struct{ dependentCounter dependentCell[S, T] }

// DependentCounterOf returns the handle of field in tx. It is for generated
// code.
func DependentCounterOf[S sighting, T any](tx *Tx, field string, codec schema.Codec[T]) DependentCounter[S, T] {
	return DependentCounter[S, T]{dependentCell[S, T]{cell[T]{spot{tx: tx, field: field}, codec}}}
}

// Get returns the field's value under the owner's lock and whether it is set.
func (c DependentCounter[S, T]) Get() (value T, ok bool) { return c.dependentCounter.get() }

// Add adds n, which was produced after seen was observed. It fails like
// [DependentValue.Set], and with [schema.ErrOverflow] like [Counter.Add].
func (c DependentCounter[S, T]) Add(seen S, n T) { c.dependentCounter.apply(schema.VerbAdd, seen, n) }
