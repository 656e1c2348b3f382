package apply

import (
	"maps"
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/go-json-experiment/json/jsontext"
)

// A table is a set or a map of a sidecar, taken apart. It is immutable.
type table struct {
	rows  []document.Row // sorted; the keys of a set's are its elements
	order func(a, b string) int
	err   error // why the value cannot be taken apart
}

// table returns the set or map in a field of the sidecar, and takes it apart once.
func (l *Layer) table(name string) *table {
	if l.below != nil {
		return l.below.table(name)
	}
	if t, ok := l.tables[name]; ok {
		return t
	}
	t := newTable(l.base, name, l.declared(name))
	if l.tables == nil {
		l.tables = map[string]*table{}
	}
	l.tables[name] = t
	return t
}

func newTable(doc *document.Document, name string, f schema.Field) *table {
	t := &table{order: strings.Compare}
	if f.EffectiveKind() == schema.Map {
		t.rows, t.err = doc.Rows(name)
		return t
	}
	of, _ := f.Element()
	t.order = func(a, b string) int { return of.Order([]byte(a), []byte(b)) }
	raw, _, _ := doc.Field(name)
	if raw == nil {
		return t
	}
	var elements [][]byte
	elements, t.err = f.Elements(raw)
	for _, element := range elements {
		t.rows = append(t.rows, document.Row{Key: string(element)})
	}
	return t
}

func (t *table) slot(part string) slot {
	i, ok := slices.BinarySearchFunc(t.rows, part, func(row document.Row, part string) int { return t.order(row.Key, part) })
	if !ok {
		return slot{}
	}
	return slot{raw: t.rows[i].Value, set: true, born: t.rows[i].Born}
}

// with returns the table's rows after changes, which are by part.
func (t *table) with(changes map[string]slot) []document.Row {
	rows := make([]document.Row, 0, len(t.rows)+len(changes))
	parts := slices.SortedFunc(maps.Keys(changes), t.order)
	for _, row := range t.rows {
		for len(parts) > 0 && t.order(parts[0], row.Key) < 0 {
			rows, parts = appendRow(rows, parts[0], changes), parts[1:]
		}
		if len(parts) > 0 && parts[0] == row.Key {
			rows, parts = appendRow(rows, parts[0], changes), parts[1:]
			continue
		}
		rows = append(rows, row)
	}
	for _, part := range parts {
		rows = appendRow(rows, part, changes)
	}
	return rows
}

func appendRow(rows []document.Row, part string, changes map[string]slot) []document.Row {
	if s := changes[part]; s.set {
		rows = append(rows, document.Row{Key: part, Value: s.raw, Born: s.born})
	}
	return rows
}

// rows returns the rows of a field with the changes of all layers.
func (l *Layer) rows(field string) []document.Row {
	changes := map[string]slot{}
	l.partsInto(changes, field)
	return l.table(field).with(changes)
}

// partsInto adds the changes to the parts of a field, those of upper layers last.
func (l *Layer) partsInto(changes map[string]slot, field string) {
	if l.below != nil {
		l.below.partsInto(changes, field)
	}
	for p, s := range l.changes {
		if p.field == field && p.part != "" {
			changes[p.part] = s
		}
	}
}

// renderSet returns rows as the value of a set.
func renderSet(rows []document.Row) []byte {
	elements := make([][]byte, len(rows))
	for i, row := range rows {
		elements[i] = []byte(row.Key)
	}
	return schema.JoinElements(elements)
}

// renderMap returns rows as the value of a map.
func renderMap(rows []document.Row) []byte {
	raw := []byte{'{'}
	for i, row := range rows {
		if i > 0 {
			raw = append(raw, ',')
		}
		raw, _ = jsontext.AppendQuote(raw, row.Key) // valid UTF-8: it was a key before
		raw = append(append(raw, ':'), row.Value...)
	}
	return append(raw, '}')
}
