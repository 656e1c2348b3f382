package schema

import (
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// appendJSON keeps the digits and escapes of v. Only white space between its
// parts goes.
func appendJSON(dst []byte, v jsontext.Value) ([]byte, error) {
	if !v.IsValid() {
		return nil, mismatch("one valid JSON value without a name twice", v)
	}
	if depth(v) > maxDepth {
		return nil, fmt.Errorf("JSON that nests deeper than the %d allowed: store it flatter", maxDepth)
	}
	v = v.Clone()
	if err := v.Compact(); err != nil {
		return nil, err
	}
	return append(dst, v...), nil
}

func decodeJSON(raw []byte) (jsontext.Value, error) { return appendJSON(nil, raw) }

// ListOf returns the codec of a list with elements of the codec element. An
// empty list is a value, and nil is stored as one.
func ListOf[T any](element Codec[T]) Codec[[]T] {
	encode := func(dst []byte, v []T) ([]byte, error) { return appendList(element, dst, v) }
	decode := func(raw []byte) ([]T, error) { return decodeList(element, raw) }
	return Codec[[]T]{encode, decode}
}

func appendList[T any](element Codec[T], dst []byte, v []T) ([]byte, error) {
	if len(v) > MaxElements {
		return nil, fmt.Errorf("%d elements are more than the %d allowed: store fewer", len(v), MaxElements)
	}
	dst = append(dst, '[')
	for i, e := range v {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = element.Append(dst, e); err != nil {
			return nil, fmt.Errorf("element %d: %w", i, err)
		}
	}
	return append(dst, ']'), nil
}

func decodeList[T any](element Codec[T], raw []byte) ([]T, error) {
	v := []T{}
	err := walkArray(raw, func(value []byte) error {
		e, err := element.Decode(value)
		v = append(v, e)
		return err
	})
	if err != nil {
		return nil, err
	}
	return v, nil
}

// An Optional is a member of a record, which may be unset. Its zero value is.
type Optional[T any] struct {
	value T
	set   bool
}

// Some returns an Optional that is set to v.
func Some[T any](v T) Optional[T] { return Optional[T]{v, true} }

// Get returns the value and whether it is set.
func (o Optional[T]) Get() (v T, ok bool) { return o.value, o.set }

// Or returns the value, or otherwise if it is unset.
func (o Optional[T]) Or(otherwise T) T {
	if o.set {
		return o.value
	}
	return otherwise
}

// String returns the value as fmt prints it, or "unset".
func (o Optional[T]) String() string {
	if o.set {
		return fmt.Sprint(o.value)
	}
	return "unset"
}

// A Record is a pointer to a generated record type, which is a struct of
// Optionals.
type Record interface {
	// JSONMembers returns the struct's members, bound to it.
	JSONMembers() Members
}

// Members are the members of a record: those that the program knows, made by
// [MemberOf], and the rest.
type Members struct {
	rest  *Rest
	known []Member
}

// A Rest holds the members of a record that its program does not know, because
// a newer declaration has them. They go where the record's value goes.
type Rest struct{ object string }

// MembersOf returns the members of a record. It is for generated code.
func MembersOf(rest *Rest, known ...Member) Members { return Members{rest, known} }

// A Member is one member of a record and where its value is.
type Member struct {
	name string
	at   slot
}

type slot interface {
	append() (raw []byte, set bool, err error)
	decode(raw []byte) error
}

// MemberOf returns the member name, whose value is at the pointer. It is for
// generated code.
func MemberOf[T any](name string, codec Codec[T], at *Optional[T]) Member {
	return Member{name, bound[T]{codec, at}}
}

type bound[T any] struct {
	codec Codec[T]
	at    *Optional[T]
}

func (b bound[T]) append() (raw []byte, set bool, err error) {
	if !b.at.set {
		return nil, false, nil
	}
	raw, err = b.codec.Append(nil, b.at.value)
	return raw, true, err
}

func (b bound[T]) decode(raw []byte) error {
	v, err := b.codec.Decode(raw)
	if err == nil {
		*b.at = Some(v)
	}
	return err
}

// RecordOf returns the codec of a generated record type.
func RecordOf[T any, P interface {
	*T
	Record
}]() Codec[T] {
	encode := func(dst []byte, v T) ([]byte, error) { return P(&v).JSONMembers().append(dst) }
	decode := func(raw []byte) (v T, err error) {
		if err := P(&v).JSONMembers().decode(raw); err != nil {
			var zero T
			return zero, err
		}
		return v, nil
	}
	return Codec[T]{encode, decode}
}

func (m Members) append(dst []byte) ([]byte, error) {
	var o Object
	if m.rest.object != "" {
		var err error
		if o, err = ParseObject([]byte(m.rest.object)); err != nil {
			return nil, err
		}
	}
	for _, known := range m.known {
		raw, set, err := known.at.append()
		if err != nil {
			return nil, fmt.Errorf("member %s: %w", known.name, err)
		}
		if set {
			o = o.With(known.name, raw)
		}
	}
	return o.Append(dst), nil
}

func (m Members) decode(raw []byte) error {
	o, err := ParseObject(raw)
	if err != nil {
		return err
	}
	var rest Object
	for _, stored := range o {
		i := slices.IndexFunc(m.known, func(known Member) bool { return known.name == stored.Name })
		if i < 0 {
			rest = append(rest, stored)
		} else if err := m.known[i].at.decode(stored.Value); err != nil {
			return fmt.Errorf("member %s: %w", stored.Name, err)
		}
	}
	if rest != nil {
		m.rest.object = string(rest.Append(nil))
	}
	return nil
}
