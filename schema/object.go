package schema

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// An Object is a JSON object taken apart: its members in the order in which
// they stand, each in its own bytes, so that members that a program does not know
// go out as they came in. Methods leave their receiver as it is.
type Object []ObjectMember

// An ObjectMember is a member of an Object.
type ObjectMember struct {
	// Name as its Key spells it.
	Name string
	// Key is the name in quotes.
	Key []byte
	// Value is JSON.
	Value []byte
}

// ParseObject takes apart the object raw, whose bytes the result refers to. It
// is an error if raw is anything else, or has a name twice.
func ParseObject(raw []byte) (Object, error) {
	if jsontext.Value(raw).Kind() != jsontext.KindBeginObject {
		return nil, mismatch("an object", raw)
	}
	var o Object
	err := walk(raw, func(key, value []byte) error {
		name, err := jsontext.AppendUnquote(nil, key)
		o = append(o, ObjectMember{string(name), key, value})
		return err
	})
	return o, err
}

// walk calls each with every member of an object, or with every element of an
// array and no key. It checks raw as strictly as a sidecar is read.
func walk(raw []byte, each func(key, value []byte) error) error {
	dec := jsontext.NewDecoder(bytes.NewBuffer(raw))
	slice := func() ([]byte, error) {
		value, err := dec.ReadValue()
		end := int(dec.InputOffset())
		return raw[end-len(value) : end : end], err
	}
	begin, err := dec.ReadToken()
	if err != nil {
		return notJSON(err)
	}
	named := begin.Kind() == jsontext.KindBeginObject
	for dec.PeekKind() != jsontext.KindEndObject && dec.PeekKind() != jsontext.KindEndArray {
		var key []byte
		if named {
			if key, err = slice(); err != nil {
				return notJSON(err)
			}
		}
		value, err := slice()
		if err != nil {
			return notJSON(err)
		}
		if err := each(key, value); err != nil {
			return err
		}
	}
	if _, err := dec.ReadToken(); err != nil {
		return notJSON(err)
	}
	if dec.PeekKind() != jsontext.KindInvalid || len(bytes.TrimSpace(raw[dec.InputOffset():])) > 0 {
		return errors.New("more follows after the value: give one value")
	}
	return nil
}

func notJSON(err error) error {
	return fmt.Errorf("not valid JSON: %s: quote text, and look for a comma or brace too many or too few", strings.TrimPrefix(err.Error(), "jsontext: "))
}

// Value returns the value of the member name.
func (o Object) Value(name string) (raw []byte, ok bool) {
	if i := o.index(name); i >= 0 {
		return o[i].Value, true
	}
	return nil, false
}

// With returns o with another value for the member name. One that is new
// stands before the first whose name is greater, so that an object that only
// With has built is sorted.
func (o Object) With(name string, value []byte) Object {
	key, _ := jsontext.AppendQuote(nil, name) // callers have names that are valid UTF-8
	return o.with(ObjectMember{name, key, value})
}

func (o Object) with(m ObjectMember) Object {
	changed := slices.Clone(o)
	if i := o.index(m.Name); i >= 0 {
		changed[i].Value = m.Value
		return changed
	}
	i := slices.IndexFunc(o, func(other ObjectMember) bool { return other.Name > m.Name })
	if i < 0 {
		i = len(o)
	}
	return slices.Insert(changed, i, m)
}

// Without returns o without the member name.
func (o Object) Without(name string) Object {
	return slices.DeleteFunc(slices.Clone(o), func(m ObjectMember) bool { return m.Name == name })
}

// Append appends o's JSON to dst.
func (o Object) Append(dst []byte) []byte {
	dst = append(dst, '{')
	for i, m := range o {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(append(dst, m.Key...), ':'), m.Value...)
	}
	return append(dst, '}')
}

func (o Object) index(name string) int {
	return slices.IndexFunc(o, func(m ObjectMember) bool { return m.Name == name })
}

func (o Object) sort() {
	slices.SortFunc(o, func(a, b ObjectMember) int { return strings.Compare(a.Name, b.Name) })
}
