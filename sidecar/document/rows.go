package document

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// A Row is what a map has at one key.
type Row struct {
	// Key is any text.
	Key string
	// Value is JSON as it stands in the file. It must not be changed.
	Value []byte
	// Born is the key's incarnation: the version of the commit that created
	// it, in the sidecar of the owner that decides the keys. Zero if the
	// file does not say.
	Born Version
}

// Rows returns the rows of the map in the field name, sorted by key; none if
// the field was never written or was cleared. It returns an error that wraps
// [ErrInvalid] if the value is no object.
func (d *Document) Rows(name string) ([]Row, error) {
	i := d.member(name)
	if i < 0 {
		return nil, nil
	}
	object := d.members[i].value
	if jsontext.Value(object).Kind() != jsontext.KindBeginObject {
		return nil, &SyntaxError{int64(d.members[i].at), fmt.Sprintf("field %s must be an object, not %s", name, kind(object))}
	}
	born := d.incarnations(name)
	rows := make([]Row, 0, len(born))
	pairs(object, func(key, value []byte) {
		k := string(unquoteName(key))
		rows = append(rows, Row{k, value, born[k]})
	})
	byKey := func(a, b Row) int { return strings.Compare(a.Key, b.Key) }
	if !slices.IsSortedFunc(rows, byKey) {
		slices.SortFunc(rows, byKey)
	}
	return rows, nil
}

func (d *Document) incarnations(name string) map[string]Version {
	i := d.entry(name)
	if i < 0 {
		return nil
	}
	object := d.fields[i].now().keys
	born := make(map[string]Version, bytes.Count(object, []byte{','})+1)
	var last Version // often many keys in a row were created by one commit
	pairs(object, func(key, value []byte) {
		parts, _ := snapshotVersion(bytes.Trim(value, `"`)) // valid: it was read, or written here
		if parts.epoch != last.Epoch || parts.revision != last.Revision || string(parts.nonce) != last.Nonce {
			last = parts.version()
		}
		born[string(unquoteName(key))] = last
	})
	return born
}

// SetRows gives the field name a map as its value, and records who did. The
// rows must be sorted by key and have each key once.
func (d *Document) SetRows(name string, rows []Row, by Provenance) {
	size := 2
	for _, row := range rows {
		size += len(row.Key) + len(row.Value) + 4
	}
	object := append(make([]byte, 0, size), '{')
	born := append(make([]byte, 0, size+48*len(rows)), '{')
	for _, row := range rows {
		if len(object) > 1 {
			object = append(object, ',')
		}
		at := len(object)
		object, _ = jsontext.AppendQuote(object, row.Key) // valid UTF-8: callers see to it
		key := object[at:]
		if !row.Born.IsZero() {
			if len(born) > 1 {
				born = append(born, ',')
			}
			born = append(append(born, key...), `:"`...)
			born = append(row.Born.append(born), '"')
		}
		object = append(append(object, ':'), row.Value...)
	}
	d.Set(name, append(object, '}'), by)
	e := &d.fields[d.entry(name)]
	if e.set.keys = nil; len(born) > 1 {
		e.set.keys = append(born, '}')
	}
}

// incarnations reads the incarnations of a map's keys.
func (s *scanner) incarnations() []byte {
	object := s.value()
	if s.err != nil {
		return nil
	}
	if object[0] != '{' {
		s.refuse(s.at, "keys must be an object, not %s", kind(object))
		return nil
	}
	pairs(object, func(key, value []byte) {
		if _, ok := snapshotVersion(bytes.Trim(value, `"`)); !ok || value[0] != '"' {
			s.refuse(s.at, "the incarnation of key %.80q must be EPOCH.REVISION.NONCE in quotes, not %s", unquoteName(key), excerpt(value))
		}
	})
	return object
}

// pairs calls each with the members of the object, which is known to be valid.
func pairs(object []byte, each func(key, value []byte)) {
	for i := 0; ; {
		if i = past(object, i, " \t\r\n{,"); i >= len(object) || object[i] == '}' {
			return
		}
		start := i
		i = valueEnd(object, start)
		key := object[start:i:i]
		start = past(object, i, " \t\r\n:")
		i = valueEnd(object, start)
		each(key, object[start:i:i])
	}
}

// past returns the offset of the first byte from i on that is none of skip.
func past(text []byte, i int, skip string) int {
	for i < len(text) && strings.IndexByte(skip, text[i]) >= 0 {
		i++
	}
	return i
}

// valueEnd returns where the valid value ends that begins at start.
func valueEnd(text []byte, start int) int {
	depth := 0
	for i := start; i < len(text); i++ {
		switch text[i] {
		case '"':
			i = stringEnd(text, i)
			if depth == 0 {
				return i + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
			if depth < 0 {
				return i // after a number or a literal
			}
		case ',', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i
			}
		}
	}
	return len(text)
}

// stringEnd returns the offset of the quote that ends the string at start.
func stringEnd(text []byte, start int) int {
	for i := start + 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(text)
}
