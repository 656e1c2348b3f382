package adopt

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/schema"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/shopspring/decimal"
)

// Infer proposes fields of one owner for a legacy file, such that [Legacy.Plan]
// finds no misfit. left lists the keys without a proposed field, in file order,
// each with its Why. If the file exceeds one owner's sidecar, left begins with the
// empty pointer.
//
// A type follows from the values; where all are null or empty, from those of the same
// key elsewhere. A name in another style becomes a legacy key; keys that can be no
// names make a map. Kinds other than value and map are never proposed: a file does not
// show how its values came about.
func Infer(l *Legacy) (fields map[string]schema.Field, left []Place) {
	in := &inference{named: map[string]*column{}}
	in.see(l.object, 0)
	if f, ok := in.inferMap(l.object, true); ok {
		f.Legacy = schema.LegacyFile
		fields, left = fit(l, map[string]schema.Field{"entries": f}, nil)
		if len(fields) > 0 {
			return fields, left
		}
	}
	var columns []column
	for _, m := range l.object {
		columns = append(columns, column{m.Name, [][]byte{m.Value}})
	}
	fields, keys := inferFields(columns, in.inferField)
	left = nil
	for _, key := range keys {
		left = append(left, Place{Pointer: jsontext.Pointer("").AppendToken(key), Why: "its name has characters that do not show, or too many"})
	}
	if len(fields) > schema.MaxFields { // there is nothing to declare
		return fields, left
	}
	return fit(l, fields, left)
}

// fit moves fields with values that no declaration can hold to left.
func fit(l *Legacy, fields map[string]schema.Field, left []Place) (map[string]schema.Field, []Place) {
	_, err := l.Plan(&schema.Declaration{State: "legacy", Owners: map[string]schema.Owner{"everything": {Fields: fields}}})
	misfits, _ := errors.AsType[Misfits](err)
	unfit := map[jsontext.Pointer]bool{}
	for _, m := range misfits {
		for token := range m.Pointer.Tokens() {
			unfit[jsontext.Pointer("").AppendToken(token)] = true
			break
		}
	}
	for name, f := range fields {
		at := jsontext.Pointer("").AppendToken(cmp.Or(f.Legacy, name))
		if unfit[at] || f.Legacy == schema.LegacyFile && len(unfit) > 0 {
			delete(fields, name)
			left = append(left, Place{Pointer: at, Why: "no field could hold its value, which nests too deep or has too much in it"})
		}
	}
	place := map[jsontext.Pointer]int{}
	for i, m := range l.object {
		place[jsontext.Pointer("").AppendToken(m.Name)] = i
	}
	slices.SortFunc(left, func(a, b Place) int { return place[a.Pointer] - place[b.Pointer] })
	if slices.ContainsFunc(misfits, func(m misfit) bool { return m.Pointer == "" }) {
		left = slices.Insert(left, 0, Place{Why: "it has more than one sidecar may hold"})
	}
	return fields, left
}

// A column holds all values under one key: one at the top of the file, or one
// per object of a list or map.
type column struct {
	key    string
	values [][]byte
}

// inferFields infers a named field per column. It returns the keys that have no
// possible name.
func inferFields(columns []column, infer func(c column) schema.Field) (fields map[string]schema.Field, left []string) {
	fields = map[string]schema.Field{}
	for _, good := range []bool{true, false} { // valid names first: they belong to their own keys
		for _, c := range columns {
			if schema.ValidName(c.key) != good {
				continue
			}
			name, ok := c.key, true
			if !good {
				name, ok = nameFor(c.key, fields)
			}
			if !ok {
				left = append(left, c.key)
				continue
			}
			f := infer(c)
			if name != c.key {
				f.Legacy = c.key
			}
			fields[name] = f
		}
	}
	remarkSpellings(columns, fields)
	return fields, left
}

// remarkSpellings adds a remark to each field with a key that stands in the file in another
// spelling too: last_checked and lastChecked.
func remarkSpellings(columns []column, fields map[string]schema.Field) {
	spelled := map[string][]string{} // keys by their words
	for _, c := range columns {
		if words := snake(c.key); words != "" {
			spelled[words] = append(spelled[words], c.key)
		}
	}
	for name, f := range fields {
		key := cmp.Or(f.Legacy, name)
		others := slices.DeleteFunc(slices.Clone(spelled[snake(key)]), func(other string) bool { return other == key })
		if len(others) > 0 && f.Doc == "" {
			f.Doc = "The file has this as " + strings.Join(others, ", ") + " too."
			fields[name] = f
		}
	}
}

func (in *inference) inferField(c column) schema.Field {
	if o, err := schema.ParseObject(c.values[0]); err == nil {
		if f, ok := in.inferMap(o, false); ok {
			return f
		}
	}
	return in.inferType(c, 0)
}

// inferType infers the type of a column's values, nest levels below a field.
func (in *inference) inferType(c column, nest int) schema.Field {
	values := slices.DeleteFunc(slices.Clone(c.values), vacant)
	if len(values) == 0 {
		return in.guess(c, nest)
	}
	candidates := []schema.Field{
		{Type: schema.TypeBool}, {Type: schema.TypeInt}, {Type: schema.TypeUint}, {Type: schema.TypeFloat}, {Type: schema.TypeDecimal},
		{Type: schema.TypeTime}, {Type: schema.TypeDuration}, {Type: schema.TypeString},
	}
	if nest < schema.MaxNest {
		candidates = append(candidates, in.inferParts(column{c.key, values}, nest)...)
	}
	for _, f := range candidates {
		if holds(f, c.values) {
			return remarked(f, values)
		}
	}
	if keyed(values) {
		return schema.Field{Type: schema.TypeJSON, Doc: keysAreData}
	}
	return schema.Field{Type: schema.TypeJSON}
}

// keysAreData is the doc of an object that would be a map at the top.
const keysAreData = "Its keys are data, and no map can be in a list, a record or a map."

// keyed reports whether one of the values is an object with data for keys.
func keyed(values [][]byte) bool {
	return slices.ContainsFunc(values, func(v []byte) bool {
		o, err := schema.ParseObject(v)
		return err == nil && slices.ContainsFunc(o, func(m schema.ObjectMember) bool { return isData(m.Name) })
	})
}

// vacant reports whether a value says nothing of its type.
func vacant(v []byte) bool {
	if jsontext.Value(v).Kind() == jsontext.KindNull {
		return true
	}
	parts, err := elements(v)
	return err == nil && len(parts) == 0
}

// holds reports whether f holds all values without loss.
func holds(f schema.Field, values [][]byte) bool {
	for _, v := range values {
		c := converter{}
		if _, ok := c.value(f, spot{}, v); !ok && len(c.unset) == 0 || len(c.misfits)+len(c.unowned) > 0 {
			return false
		}
		kind := jsontext.Value(v).Kind()
		text := kind == jsontext.KindString
		switch {
		case kind == jsontext.KindNull:
		case text && f.Type == schema.TypeDecimal, !text && f.Type == schema.TypeFloat && !shortest(v):
			return false
		case f.Type == schema.TypeDuration && !withUnit.Match(v):
			return false
		case (f.Type == schema.TypeInt || f.Type == schema.TypeUint) && bytes.ContainsAny(v, ".eE"): // its writer counts in parts
			return false
		}
	}
	return true
}

// shortest reports whether a double keeps every digit of number.
func shortest(number []byte) bool {
	stored, err := schema.Field{Type: schema.TypeFloat}.Normalize(number)
	if err != nil || len(number) > mostDigits {
		return false
	}
	a, err1 := decimal.NewFromString(string(number))
	b, err2 := decimal.NewFromString(string(stored))
	return err1 == nil && err2 == nil && a.Equal(b)
}

// inferParts returns the candidate types of values with parts.
func (in *inference) inferParts(c column, nest int) []schema.Field {
	switch jsontext.Value(c.values[0]).Kind() {
	case jsontext.KindBeginArray:
		inner := column{key: c.key}
		for _, v := range c.values {
			parts, err := elements(v)
			if err != nil {
				return nil
			}
			inner.values = append(inner.values, parts...)
		}
		of := in.inferType(inner, nest+1)
		if of.Type == schema.TypeList { // a list of lists has no good name in Go
			return nil
		}
		return []schema.Field{{Type: schema.TypeList, Of: &of}}
	case jsontext.KindBeginObject:
		columns, ok := columnsOf(c.values)
		if !ok || keyed(c.values) {
			return nil
		}
		members, left := inferFields(columns, func(c column) schema.Field { return in.inferType(c, nest+1) })
		if len(left) == 0 && len(members) > 0 {
			return []schema.Field{{Type: schema.TypeRecord, Fields: members}}
		}
	}
	return nil
}

// mostMembers bounds the members of an inferred record. More keys are data.
const mostMembers = 64

// columnsOf returns the members of objects by key, in order of appearance.
func columnsOf(objects [][]byte) (columns []column, ok bool) {
	at := map[string]int{}
	for _, v := range objects {
		o, err := schema.ParseObject(v)
		if err != nil {
			return nil, false
		}
		for _, m := range o {
			i, known := at[m.Name]
			if !known {
				i = len(columns)
				at[m.Name] = i
				columns = append(columns, column{key: m.Name})
			}
			columns[i].values = append(columns[i].values, m.Value)
		}
	}
	return columns, len(columns) <= mostMembers
}

// inferMap infers a map if the keys of o look like data: some can be no names, or their
// values are alike. The top of a file needs stronger signs.
func (in *inference) inferMap(o schema.Object, top bool) (f schema.Field, ok bool) {
	entries := column{}
	odd := 0
	for _, m := range o {
		if schema.CheckKey(m.Name) != nil {
			return f, false
		}
		if isData(m.Name) {
			odd++
		}
		if jsontext.Value(m.Value).Kind() != jsontext.KindNull {
			entries.values = append(entries.values, m.Value)
		}
	}
	if odd == 0 && len(entries.values) < 2 || len(o) == 0 || len(o) > schema.MaxKeys {
		return f, false
	}
	most := 2*odd >= len(o) && odd > 0 // keys are data
	few := top && odd == 0 && len(entries.values) < 3
	if columns, alike := columnsOf(entries.values); alike && !few && !keyed(entries.values) && similar(columns, len(entries.values)) {
		members, left := inferFields(columns, func(c column) schema.Field { return in.inferType(c, 1) })
		return schema.Field{Kind: schema.Map, Record: members}, len(left) == 0
	}
	value := in.inferType(entries, 1)
	data := most || odd > 0 && !top || len(o) >= 256 || odd == 0 && !top && len(o) >= 8
	scalar := value.Of == nil && value.Fields == nil && value.Type != schema.TypeJSON
	if most && value.Fields != nil { // unlike records
		value = schema.Field{Type: schema.TypeJSON}
	}
	return schema.Field{Kind: schema.Map, Value: &value}, most || data && scalar
}

// similar reports whether n objects share more than half of their members.
func similar(columns []column, n int) bool {
	common := 0
	for _, c := range columns {
		if 2*len(c.values) > n {
			common++
		}
	}
	return 2*common > len(columns)
}
