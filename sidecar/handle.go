package sidecar

import (
	"fmt"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/status"
)

// A spot is the place of a value in one transaction: a field, or a member at a
// key of a map.
type spot struct {
	tx                 *Tx
	field, key, member string
	at                 Version // the incarnation of the key, if a certain one is meant
}

func (s spot) op(verb schema.Verb, value []byte) Op {
	return Op{Field: s.field, Key: s.key, Member: s.member, At: s.at, Verb: verb, Value: value}
}

// A cell is one value in one transaction. Handles wrap it in an unexported
// field, so that code outside this package can neither make one nor turn one
// field's handle into another's; each kind of handle names that field in its
// own way, so that Go converts none into another.
type cell[T any] struct {
	spot
	codec schema.Codec[T]
}

func (c cell[T]) get() (v T, ok bool) {
	raw, ok := c.tx.stored(c.spot)
	if !ok {
		return v, false
	}
	v, err := c.codec.Decode(raw)
	if err != nil {
		if c.known(raw) {
			err = status.With(fmt.Errorf("%w: %w: this program is older than the state", ErrDeclaration, err), status.Remedy{Note: "build this program from the present owners.yaml"})
			c.tx.failAt(c.op("", nil), err)
		} else {
			c.fail(err)
		}
		var zero T
		return zero, false
	}
	return v, true
}

// known reports whether a stored value fits the declaration in the manifest, which
// may be later than that of the program, and than the Writer.
func (s spot) known(raw []byte) bool {
	w := s.tx.batch.w
	now, err := w.dir.Manifest()
	if err != nil {
		return false
	}
	f, err := now.Declaration.FieldOf(w.owner, s.field)
	if s.key != "" {
		f, _ = f.Member(s.member)
	}
	if err == nil {
		_, err = f.Normalize(raw)
	}
	return err == nil
}

func (c cell[T]) apply(verb schema.Verb, v T) {
	c.tx.check()
	raw, err := c.codec.Append(nil, v)
	if err != nil {
		c.fail(err)
		return
	}
	c.tx.apply(c.op(verb, raw), true)
}

func (c cell[T]) clear() { c.tx.apply(c.op(schema.VerbClear, nil), true) }

func (c cell[T]) fail(err error) {
	c.tx.fail(fmt.Errorf("%s: %s: %w", c.tx.batch.w.path, c.op("", nil).Where(), invalid(err)))
}

// A Value is a field of which the latest commit counts.
type Value[T any] struct{ value cell[T] }

// ValueOf returns the handle of field in tx. It is for generated code.
func ValueOf[T any](tx *Tx, field string, codec schema.Codec[T]) Value[T] {
	return Value[T]{cell[T]{spot{tx: tx, field: field}, codec}}
}

// ValueIn returns the handle of a member at a key of a map. It is for generated
// code.
func ValueIn[T any](e Entry, member string, codec schema.Codec[T]) Value[T] {
	return Value[T]{cell[T]{e.member(member), codec}}
}

// Get returns the field's value under the owner's lock and whether it is set.
func (v Value[T]) Get() (value T, ok bool) { return v.value.get() }

// Set gives the field a value. A value that the field cannot hold fails the
// Update with [ErrValue].
func (v Value[T]) Set(value T) { v.value.apply(schema.VerbSet, value) }

// Clear makes the field unset, which differs from any value. Where it is all
// that a map has at its keys, the key goes.
func (v Value[T]) Clear() { v.value.clear() }

// A Max is a field that only moves up.
type Max[T any] struct{ max cell[T] }

// MaxOf returns the handle of field in tx. It is for generated code.
func MaxOf[T any](tx *Tx, field string, codec schema.Codec[T]) Max[T] {
	return Max[T]{cell[T]{spot{tx: tx, field: field}, codec}}
}

// MaxIn returns the handle of a member at a key of a map. It is for generated
// code.
func MaxIn[T any](e Entry, member string, codec schema.Codec[T]) Max[T] {
	return Max[T]{cell[T]{e.member(member), codec}}
}

// Get returns the field's value under the owner's lock and whether it is set.
func (m Max[T]) Get() (value T, ok bool) { return m.max.get() }

// Raise moves the field up to value; where it is there or beyond, nothing
// changes.
func (m Max[T]) Raise(value T) { m.max.apply(schema.VerbRaise, value) }

// A Min is a field that only moves down.
type Min[T any] struct{ min cell[T] }

// MinOf returns the handle of field in tx. It is for generated code.
func MinOf[T any](tx *Tx, field string, codec schema.Codec[T]) Min[T] {
	return Min[T]{cell[T]{spot{tx: tx, field: field}, codec}}
}

// MinIn returns the handle of a member at a key of a map. It is for generated
// code.
func MinIn[T any](e Entry, member string, codec schema.Codec[T]) Min[T] {
	return Min[T]{cell[T]{e.member(member), codec}}
}

// Get returns the field's value under the owner's lock and whether it is set.
func (m Min[T]) Get() (value T, ok bool) { return m.min.get() }

// Lower moves the field down to value; where it is there or beyond, nothing
// changes.
func (m Min[T]) Lower(value T) { m.min.apply(schema.VerbLower, value) }

// A Counter is a field that sums exactly. Unset, it counts from zero.
type Counter[T any] struct{ counter cell[T] }

// CounterOf returns the handle of field in tx. It is for generated code.
func CounterOf[T any](tx *Tx, field string, codec schema.Codec[T]) Counter[T] {
	return Counter[T]{cell[T]{spot{tx: tx, field: field}, codec}}
}

// CounterIn returns the handle of a member at a key of a map. It is for
// generated code.
func CounterIn[T any](e Entry, member string, codec schema.Codec[T]) Counter[T] {
	return Counter[T]{cell[T]{e.member(member), codec}}
}

// Get returns the field's value under the owner's lock and whether it is set.
func (c Counter[T]) Get() (value T, ok bool) { return c.counter.get() }

// Add adds n. A sum that the type cannot hold fails the Update with
// [ErrValue] and [schema.ErrOverflow].
func (c Counter[T]) Add(n T) { c.counter.apply(schema.VerbAdd, n) }
