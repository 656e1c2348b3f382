package schema

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// The bounds of values that have parts.
const (
	// MaxElements is the most elements that a list or a set may have.
	MaxElements = 16384
	// MaxKeys is the most keys that a map may have.
	MaxKeys = 16384
	// MaxOwners is the most owners that a state may have: each is a file that
	// every view reads, and some locks.
	MaxOwners = 256
	// MaxFields is the most fields that an owner may have, and the most
	// members that a record may: one less than the members of an object in a
	// sidecar, of which "$sidecar" is one.
	MaxFields = 4095
	// MaxKey is the most bytes that a key of a map may have.
	MaxKey = 256
	// maxDepth is how deep the objects and arrays of a JSON value may nest.
	maxDepth = 48
)

func (f Field) normalizeList(raw []byte) ([]byte, error) {
	elements, err := f.Elements(raw)
	return JoinElements(elements), err
}

// Elements takes apart raw, a value of a list or of a set, and returns the
// elements, each normalized; those of a set in order and each once. It is an
// error if raw is not a value of f's type.
func (f Field) Elements(raw []byte) (elements [][]byte, err error) {
	of, ok := f.Element()
	if !ok {
		return nil, fmt.Errorf("values of type %s have no elements: want a list or a set", f.Type)
	}
	err = walkArray(raw, func(value []byte) error {
		element, err := of.Normalize(value)
		elements = append(elements, element)
		return err
	})
	if f.EffectiveKind() == Set {
		slices.SortFunc(elements, of.Order)
		elements = slices.CompactFunc(elements, bytes.Equal)
	}
	return elements, err
}

// walkArray calls each with every element of the array raw.
func walkArray(raw []byte, each func(value []byte) error) error {
	if jsontext.Value(raw).Kind() != jsontext.KindBeginArray {
		return mismatch("a list", raw)
	}
	n := 0
	return walk(raw, func(_, value []byte) error {
		if n == MaxElements {
			return fmt.Errorf("more than the %d elements allowed: store fewer", MaxElements)
		}
		if err := each(value); err != nil {
			return fmt.Errorf("element %d: %w", n, err)
		}
		n++
		return nil
	})
}

// JoinElements is the inverse of [Field.Elements].
func JoinElements(elements [][]byte) []byte {
	return append(append([]byte{'['}, bytes.Join(elements, []byte{','})...), ']')
}

// Order is the order of a set's elements, of which f is one: numbers, instants
// and durations by size, everything else by the bytes of its text. Both must
// be normalized; only equal ones have no order.
func (f Field) Order(a, b []byte) int {
	if Max.Allows(f.Type) {
		order, _ := f.Compare(a, b) // both are normalized
		return order
	}
	return bytes.Compare(unquoted(a), unquoted(b))
}

// unquoted returns the text of a JSON string, or another value as it is.
func unquoted(raw []byte) []byte {
	if len(raw) < 2 || raw[0] != '"' {
		return raw
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1]
	}
	text, _ := jsontext.AppendUnquote(nil, raw) // valid: it was normalized
	return text
}

// normalizeRecord puts the members in order. Those that are not declared keep
// their bytes.
func normalizeRecord(declared map[string]Field, raw []byte) ([]byte, error) {
	o, err := ParseObject(raw)
	if err != nil {
		return nil, err
	}
	for i := range o {
		f, ok := declared[o[i].Name]
		if !ok {
			continue
		}
		if o[i].Value, err = f.Normalize(o[i].Value); err != nil {
			return nil, fmt.Errorf("member %s: %w", o[i].Name, err)
		}
	}
	o.sort()
	return o.Append(nil), nil
}

func (f Field) normalizeMap(raw []byte) ([]byte, error) {
	o, err := ParseObject(raw)
	if err != nil {
		return nil, err
	}
	if len(o) > MaxKeys {
		return nil, fmt.Errorf("%d keys are more than the %d allowed: delete some", len(o), MaxKeys)
	}
	for i, m := range o {
		if err := CheckKey(m.Name); err != nil {
			return nil, err
		}
		if o[i].Value, err = f.normalizeEntry(m.Value); err != nil {
			return nil, fmt.Errorf("key %q: %w", m.Name, err)
		}
		o[i].Key, _ = jsontext.AppendQuote(nil, m.Name) // valid: it was read
	}
	o.sort()
	return o.Append(nil), nil
}

// normalizeEntry is [Field.Normalize] for the entry of the map f at one key.
func (f Field) normalizeEntry(raw []byte) ([]byte, error) {
	if f.Value != nil {
		return f.Value.Normalize(raw)
	}
	return normalizeRecord(f.Record, raw)
}

// CheckKey says why key cannot be a key of a map. Other than that a key may be
// any text; keys that look alike are different keys if their bytes differ.
func CheckKey(key string) error {
	switch {
	case key == "":
		return errors.New("a key of a map cannot be empty: name one")
	case len(key) > MaxKey:
		return fmt.Errorf("the key %.40q… has %d bytes, more than the %d allowed: choose a shorter one", key, len(key), MaxKey)
	case !utf8.ValidString(key):
		return fmt.Errorf("the key %q is not valid UTF-8: encode it, as in base64", key)
	}
	for _, c := range key {
		if unicode.IsControl(c) {
			return fmt.Errorf("the key %q holds the control character %U: leave it out", key, c)
		}
	}
	return nil
}

// Undeclared returns the JSON pointer of a member in raw, a value of f, that f
// does not declare: one that a newer declaration has, or a misspelt one. It
// returns false if there is none.
func (f Field) Undeclared(raw []byte) (pointer jsontext.Pointer, ok bool) {
	return f.undeclared("", raw)
}

func (f Field) undeclared(at jsontext.Pointer, raw []byte) (pointer jsontext.Pointer, ok bool) {
	element, listed := f.Element()
	i := 0
	_ = walkParts(raw, func(key, value []byte) error {
		switch {
		case listed:
			pointer, ok = element.undeclared(at.AppendToken(fmt.Sprint(i)), value)
			i++
		case f.Type == TypeRecord:
			name := string(unquoted(key))
			if member, declared := f.Fields[name]; declared {
				pointer, ok = member.undeclared(at.AppendToken(name), value)
			} else {
				pointer, ok = at.AppendToken(name), true
			}
		}
		if ok {
			return errFound
		}
		return nil
	})
	return pointer, ok
}

var errFound = errors.New("found")

// walkParts is walk for a value that may have no parts.
func walkParts(raw []byte, each func(key, value []byte) error) error {
	if k := jsontext.Value(raw).Kind(); k != jsontext.KindBeginObject && k != jsontext.KindBeginArray {
		return nil
	}
	return walk(raw, each)
}

// Keep returns value, which a program that knows f gives a record in place of
// old, with those members of old that f does not declare. Both are normalized.
// Other values it returns as they are.
func (f Field) Keep(old, value []byte) []byte {
	if f.Type != TypeRecord || old == nil {
		return value
	}
	before, err1 := ParseObject(old)
	after, err2 := ParseObject(value)
	if err1 != nil || err2 != nil {
		return value
	}
	for _, m := range before {
		member, declared := f.Fields[m.Name]
		now, has := after.Value(m.Name)
		switch {
		case !declared:
			after = after.with(m)
		case has:
			after = after.With(m.Name, member.Keep(m.Value, now))
		}
	}
	return after.Append(nil)
}

// depth returns how deep the objects and arrays of the valid JSON raw nest.
func depth(raw []byte) int {
	now, most, quoted := 0, 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			now++
			most = max(most, now)
		case c == '}' || c == ']':
			now--
		}
	}
	return most
}
