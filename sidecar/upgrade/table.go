package upgrade

import (
	"bytes"
	"maps"
	"slices"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/go-json-experiment/json/jsontext"
)

// A table is one owner's part of a map in the making.
type table struct {
	*draft
	name, there string // names of the map, now and before
	spec        schema.Field
	columns     map[string][]column                // of one member, the column that counts first
	passed      map[string]int                     // by member; keys at which only the first of two columns counts
	parts       map[string]map[string]document.Row // by former owner and key
	decider     string                             // before
	decides     bool                               // now
}

// A column is a member of the new part and its origin.
type column struct {
	schema.Origin
	from, to schema.Field
}

// table takes over the owner's part of the map name, formerly called there.
// Members may come from several owners, and belong to the key's incarnation at
// its owner.
func (b *draft) table(name, there string) {
	t := &table{draft: b, name: name, there: there, spec: b.next.Owners[b.owner].Fields[name], columns: map[string][]column{}, passed: map[string]int{}}
	t.decider, _ = b.old.OwnerOf(there)
	now, _ := b.next.OwnerOf(name)
	t.decides = now == b.owner
	b.tables[there] = name
	for _, member := range t.spec.MemberNames() {
		t.column(member, schema.Origin{Owner: b.owner, Field: member}) // as in plan.origin
		if o, ok := b.old.MemberOrigin(b.next, there, name, member); ok {
			t.column(member, o)
		}
	}
	if t.same() {
		return
	}
	t.parts = map[string]map[string]document.Row{}
	for _, owner := range b.old.OwnersOf(there) {
		t.parts[owner] = map[string]document.Row{}
		rows, _ := b.stored[owner].Rows(there) // a value that is not a map has none
		for _, row := range rows {
			t.parts[owner][row.Key] = row
		}
	}
	t.build()
}

// column adds the member o of the former map, if there is one, to the origins of
// a member.
func (t *table) column(member string, o schema.Origin) {
	from, declared := t.old.Owners[o.Owner].Fields[t.there].Record[o.Field]
	if c := t.columns[member]; !declared || len(c) > 0 && c[0].Origin == o {
		return
	}
	t.taken[place{o.Owner, t.there, o.Field}] = true
	t.columns[member] = append(t.columns[member], column{o, from, t.spec.Record[member]})
}

// same reports whether the part does not change: same members, same names, same
// owner, and same owner of the keys.
func (t *table) same() bool {
	former, had := t.old.Owners[t.owner].Fields[t.name]
	if !had || t.name != t.there || t.decides != (t.decider == t.owner) || len(former.Record) > len(t.columns) {
		return false
	}
	for member, columns := range t.columns {
		if c := columns[0]; len(columns) > 1 || c.Owner != t.owner || c.Field != member || !c.from.Fits(c.to) || !c.to.Fits(c.from) {
			return false
		}
	}
	return true
}

func (t *table) build() {
	source, ok := t.source()
	t.doc.Drop(t.name)
	if !ok {
		return
	}
	t.take(t.name, schema.Origin{Owner: source, Field: t.there})
	_, by, _ := t.doc.Field(t.name)
	if by == (document.Provenance{}) {
		by = t.by
	}
	var rows []document.Row
	for _, key := range slices.Sorted(maps.Keys(t.parts[t.decider])) {
		if row, ok := t.row(key); ok {
			rows = append(rows, row)
		}
	}
	t.doc.SetRows(t.name, rows, by)
	for member, keys := range t.passed {
		former := t.columns[member][1]
		t.lose(Gone{Owner: former.Owner, Field: t.there, Part: "/*/" + former.Field, Keys: keys, Successor: member, Declared: former.from})
	}
}

// source returns the owner from which the part takes its provenance: this
// owner, the former owner of the keys if this one decides them now, or the
// first owner of a member. It returns false if none of them ever wrote the map.
func (t *table) source() (owner string, ok bool) {
	candidates := []string{t.owner}
	if t.decides {
		candidates = append(candidates, t.decider)
	}
	for _, member := range t.spec.MemberNames() {
		for _, c := range t.columns[member] {
			candidates = append(candidates, c.Owner)
		}
	}
	for _, owner := range candidates {
		if _, ok := t.parts[owner]; !ok {
			continue
		}
		if _, _, written := t.stored[owner].Field(t.there); written {
			return owner, true
		}
	}
	return "", false
}

// row returns the owner's row at a key, or false for none. Rows of a former
// incarnation count as deleted.
func (t *table) row(key string) (document.Row, bool) {
	born := t.parts[t.decider][key].Born
	own, had := t.parts[t.owner][key]
	had = had && own.Born == born
	var object schema.Object
	if had { // members that only a newer release declares stay
		object = slices.DeleteFunc(t.parse(t.owner, own), func(m schema.ObjectMember) bool {
			_, declared := t.old.Owners[t.owner].Fields[t.there].Record[m.Name]
			return declared
		})
	}
	for _, member := range t.spec.MemberNames() {
		set := false
		for _, c := range t.columns[member] {
			from, ok := t.parts[c.Owner][key]
			if !ok || from.Born != born {
				continue
			}
			raw, ok := t.member(c, from)
			switch {
			case ok && set:
				t.passed[member]++
			case ok:
				object, set = object.With(member, raw), true
			}
		}
	}
	return document.Row{Key: key, Value: object.Append(nil), Born: born}, t.decides || had || len(object) > 0
}

// parse returns the members of an owner's row. An invalid row is a misfit.
func (t *table) parse(owner string, row document.Row) schema.Object {
	object, err := schema.ParseObject(row.Value)
	if err != nil {
		t.misfit(schema.Origin{Owner: owner, Field: t.there}, jsontext.Pointer("").AppendToken(row.Key), []schema.Misfit{{Value: row.Value, Why: err.Error()}})
		return nil
	}
	return object
}

func (t *table) member(c column, from document.Row) ([]byte, bool) {
	raw, ok := t.parse(c.Owner, from).Value(c.Field)
	if !ok {
		return nil, false
	}
	converted, left, misfits := c.from.Convert(c.to, bytes.Clone(raw))
	o, at := schema.Origin{Owner: c.Owner, Field: t.there}, jsontext.Pointer("").AppendToken(from.Key).AppendToken(c.Field)
	t.misfit(o, at, misfits)
	t.loseParts(o, at, left)
	return converted, true
}
