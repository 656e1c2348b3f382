package sidecar

import (
	"maps"
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/document"
)

// A table is a set or a map taken apart, as the sidecar has it. It is immutable.
type table struct {
	rows  []document.Row // sorted; the keys of a set's are its elements
	order func(a, b string) int
	err   error // why the sidecar's value cannot be taken apart
}

// table returns the set or the map in the field name. What one batch does to a
// field takes it apart once.
func (b *batch) table(name string) *table {
	if t, ok := b.tables[name]; ok {
		return t
	}
	t := newTable(b.base, name, b.w.declared.Fields[name])
	if b.tables == nil {
		b.tables = map[string]*table{}
	}
	b.tables[name] = t
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

// partsOf returns the changes to the parts of a field.
func partsOf(field string, changes map[place]slot) map[string]slot {
	parts := map[string]slot{}
	for p, s := range changes {
		if p.field == field && p.part != "" {
			parts[p.part] = s
		}
	}
	return parts
}

// rows returns the rows of a field as they stand for this transaction.
func (tx *Tx) rows(field string) []document.Row {
	changes := partsOf(field, tx.batch.changes)
	maps.Copy(changes, partsOf(field, tx.changes))
	return tx.batch.table(field).with(changes)
}

// room reports whether the field may have one more part.
func (tx *Tx) room(field string, most int) bool {
	return len(tx.batch.table(field).rows)+tx.batch.grown[field]+tx.grown[field] < most
}

// renderSet returns rows as the value of a set.
func renderSet(rows []document.Row) []byte {
	elements := make([][]byte, len(rows))
	for i, row := range rows {
		elements[i] = []byte(row.Key)
	}
	return schema.JoinElements(elements)
}
