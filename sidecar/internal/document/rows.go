package document

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// A Row is one key of a map with its value.
type Row struct {
	// Key is any text.
	Key string
	// Value is the JSON text in the file. It must not be changed.
	Value []byte
	// Born is the key's incarnation: the version of the commit that created
	// the key, in the sidecar of the map's keys owner. Zero if the file does
	// not have it.
	Born Version
}

// Rows returns the rows of the map in the field name, sorted by key; none if
// the field was never written or was cleared. It returns a [*SyntaxError] if
// the value is not an object.
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
	var last Version // one commit often creates many keys
	pairs(object, func(key, value []byte) {
		text, _ := cutVersion(quoted(value)) // valid: it was read, or written here
		if text.epoch != last.Epoch || text.revision != last.Revision || string(text.nonce) != last.Nonce {
			last = text.version()
		}
		born[string(unquoteName(key))] = last
	})
	return born
}

// SetRows sets the field name to a map, and its provenance. The rows must be
// sorted by key and have each key once.
func (d *Document) SetRows(name string, rows []Row, by Provenance) {
	size := 2
	for _, row := range rows {
		size += len(row.Key) + len(row.Value) + 4
	}
	object := append(make([]byte, 0, size), '{')
	born := append(make([]byte, 0, size+48*len(rows)), '{')
	for _, row := range rows {
		object = appendComma(object)
		at := len(object)
		object, _ = jsontext.AppendQuote(object, row.Key) // valid UTF-8: callers see to it
		key := object[at:]
		if !row.Born.IsZero() {
			born = appendVersion(appendKey(born, key), row.Born)
		}
		object = append(append(object, ':'), row.Value...)
	}
	d.Set(name, append(object, '}'), by)
	set := d.fields[d.entry(name)].set
	if set.keys = nil; len(born) > 1 {
		set.keys = append(born, '}')
	}
}

// incarnations reads the incarnations of a map's keys.
func (s *scanner) incarnations() []byte {
	if !s.isObject("keys") {
		return nil
	}
	start := s.pos
	s.each(func(key []byte) {
		v := s.value()
		if _, ok := cutVersion(quoted(v)); !ok {
			s.refuse(s.at, "the incarnation of key %.80q must be EPOCH.REVISION.NONCE in quotes, not %s", unquoteName(key), excerpt(v))
		}
	})
	return s.since(start)
}
