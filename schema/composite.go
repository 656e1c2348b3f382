package schema

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// JSON is the codec of json fields: any JSON value, null too, in the digits
// and escapes in which it was given. Only white space between its parts goes.
type JSON struct{}

// Append implements [Codec].
func (JSON) Append(dst []byte, v jsontext.Value) ([]byte, error) {
	if !v.IsValid() {
		return nil, mismatch("one valid JSON value without a name twice", v)
	}
	if depth(v) > MaxDepth {
		return nil, fmt.Errorf("JSON that nests deeper than the %d allowed: store it flatter", MaxDepth)
	}
	v = v.Clone()
	if err := v.Compact(); err != nil {
		return nil, err
	}
	return append(dst, v...), nil
}

// Decode implements [Codec].
func (c JSON) Decode(raw []byte) (jsontext.Value, error) { return c.Append(nil, raw) }

// ListOf returns the codec of a list of what element is the codec of. An empty
// list is a value; nil is stored as one.
func ListOf[T any](element Codec[T]) Codec[[]T] { return list[T]{element} }

type list[T any] struct{ element Codec[T] }

func (c list[T]) Append(dst []byte, v []T) ([]byte, error) {
	if len(v) > MaxElements {
		return nil, fmt.Errorf("%d elements are more than the %d allowed: store fewer", len(v), MaxElements)
	}
	dst = append(dst, '[')
	for i, e := range v {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = c.element.Append(dst, e); err != nil {
			return nil, fmt.Errorf("element %d: %w", i, err)
		}
	}
	return append(dst, ']'), nil
}

func (c list[T]) Decode(raw []byte) ([]T, error) {
	if jsontext.Value(raw).Kind() != jsontext.KindBeginArray {
		return nil, mismatch("a list", raw)
	}
	v := []T{}
	err := walk(raw, func(_, value []byte) error {
		if len(v) == MaxElements {
			return fmt.Errorf("more than the %d elements allowed: store fewer", MaxElements)
		}
		e, err := c.element.Decode(value)
		if err != nil {
			return fmt.Errorf("element %d: %w", len(v), err)
		}
		v = append(v, e)
		return nil
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
	return record[T, P]{}
}

type record[T any, P interface {
	*T
	Record
}] struct{}

func (record[T, P]) Append(dst []byte, v T) ([]byte, error) {
	members := P(&v).JSONMembers()
	var o Object
	if members.rest.object != "" {
		var err error
		if o, err = ParseObject([]byte(members.rest.object)); err != nil {
			return nil, err
		}
	}
	for _, m := range members.known {
		raw, set, err := m.at.append()
		if err != nil {
			return nil, fmt.Errorf("member %s: %w", m.name, err)
		}
		if set {
			o = o.With(m.name, raw)
		}
	}
	return o.Append(dst), nil
}

func (record[T, P]) Decode(raw []byte) (v T, err error) {
	var zero T
	o, err := ParseObject(raw)
	if err != nil {
		return zero, err
	}
	members := P(&v).JSONMembers()
	var rest Object
	for _, stored := range o {
		known, err := members.decode(stored)
		if err != nil {
			return zero, fmt.Errorf("member %s: %w", stored.Name, err)
		}
		if !known {
			rest = append(rest, stored)
		}
	}
	if rest != nil {
		members.rest.object = string(rest.Append(nil))
	}
	return v, nil
}

// decode takes a stored member in if it is known.
func (m Members) decode(stored ObjectMember) (known bool, err error) {
	for _, member := range m.known {
		if member.name == stored.Name {
			return true, member.at.decode(stored.Value)
		}
	}
	return false, nil
}
