package adopt

import (
	"cmp"
	"errors"
	"slices"

	"github.com/freehold-dev/freehold/schema"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/shopspring/decimal"
)

// InferredOwner is the one owner that [Infer] proposes. A file does not show
// which programs write which fields.
const InferredOwner = "everything"

// An Inferred is the proposal of [Infer] for a legacy file.
type Inferred struct {
	// Fields by name, for one owner.
	Fields map[string]schema.Field
	// Left are the keys without a proposed field, in file order.
	Left []Undeclared
	// TooLarge reports that the file exceeds one owner's sidecar.
	TooLarge bool
}

// An Undeclared is a key of a legacy file without a proposed field.
type Undeclared struct {
	Pointer jsontext.Pointer
	// Why, in words that follow "since".
	Why string
}

// Infer proposes fields for a legacy file, such that [Legacy.Plan] finds no
// misfit.
//
// A type follows from the values; where all are null, from similar keys. A key
// that is not a valid name becomes a legacy key. Kinds other than value and map
// are never proposed: a file does not show how its values came about. Left
// lists the keys that no field can hold or name.
func Infer(l *Legacy) *Inferred {
	in := newInference(l.object)
	if f, ok := in.inferMap(l.object, true); ok {
		f.Legacy = schema.LegacyFile
		whole := &Inferred{Fields: map[string]schema.Field{"entries": f}}
		if whole.fit(l); len(whole.Left) == 0 {
			return whole
		}
	}
	var columns []column
	for _, m := range l.object {
		columns = append(columns, column{m.Name, [][]byte{m.Value}})
	}
	fields, keys := inferFields(columns, in.inferField)
	all := &Inferred{Fields: fields}
	for _, key := range keys {
		all.Left = append(all.Left, Undeclared{jsontext.Pointer("").AppendToken(key), "its name has characters that do not show, or too many"})
	}
	if len(fields) <= schema.MaxFields { // else there is nothing to declare anyway
		all.fit(l)
	}
	return all
}

// fit moves fields to Left whose values no declaration can hold.
func (in *Inferred) fit(l *Legacy) {
	_, err := l.Plan(&schema.Declaration{State: "legacy", Owners: map[string]schema.Owner{InferredOwner: {Fields: in.Fields}}})
	misfits, _ := errors.AsType[Misfits](err)
	misfit := map[jsontext.Pointer]bool{}
	for _, m := range misfits {
		if m.Pointer == "" {
			in.TooLarge = true
		} else {
			misfit[firstOf(m.Pointer)] = true
		}
	}
	for name, f := range in.Fields {
		at := jsontext.Pointer("").AppendToken(cmp.Or(f.Legacy, name))
		if misfit[at] || f.Legacy == schema.LegacyFile && len(misfit) > 0 {
			delete(in.Fields, name)
			in.Left = append(in.Left, Undeclared{at, "no field could hold its value, which nests too deep or has too much in it"})
		}
	}
	place := map[jsontext.Pointer]int{}
	for i, m := range l.object {
		place[jsontext.Pointer("").AppendToken(m.Name)] = i
	}
	slices.SortFunc(in.Left, func(a, b Undeclared) int { return place[a.Pointer] - place[b.Pointer] })
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
	return fields, left
}

// inferField infers a top-level field, which may be a map.
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
	values := slices.DeleteFunc(slices.Clone(c.values), func(v []byte) bool { return jsontext.Value(v).Kind() == jsontext.KindNull })
	if len(values) == 0 {
		return in.guess(c.key)
	}
	candidates := []schema.Field{
		{Type: schema.TypeBool}, {Type: schema.TypeInt}, {Type: schema.TypeUint}, {Type: schema.TypeFloat}, {Type: schema.TypeDecimal},
		{Type: schema.TypeTime}, {Type: schema.TypeString},
	}
	if nest < schema.MaxNest {
		candidates = append(candidates, in.inferParts(column{c.key, values}, nest)...)
	}
	for _, f := range candidates {
		if holds(f, values) {
			return f
		}
	}
	return schema.Field{Type: schema.TypeJSON}
}

// holds reports whether f can hold all values without loss.
func holds(f schema.Field, values [][]byte) bool {
	for _, v := range values {
		c := converter{}
		if _, ok := c.value(f, spot{}, v); !ok && len(c.unset) == 0 || len(c.misfits)+len(c.unowned) > 0 {
			return false
		}
		text := jsontext.Value(v).Kind() == jsontext.KindString
		if text && f.Type == schema.TypeDecimal || !text && f.Type == schema.TypeFloat && !shortest(v) {
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
		if !ok {
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

// inferMap infers a map if the keys of o look like data: most are not valid
// names, or their values are alike. The top of a file needs stronger signs,
// since many files hold only numbers, or two similar parts.
func (in *inference) inferMap(o schema.Object, top bool) (f schema.Field, ok bool) {
	entries := column{}
	odd := 0
	for _, m := range o {
		if schema.CheckKey(m.Name) != nil {
			return f, false
		}
		if !schema.ValidName(m.Name) {
			odd++
		}
		if jsontext.Value(m.Value).Kind() != jsontext.KindNull {
			entries.values = append(entries.values, m.Value)
		}
	}
	if len(entries.values) < 2 || len(o) > schema.MaxKeys {
		return f, false
	}
	few := top && len(entries.values) < 3
	if columns, alike := columnsOf(entries.values); alike && !few && similar(columns, len(entries.values)) {
		members, left := inferFields(columns, func(c column) schema.Field { return in.inferType(c, 1) })
		return schema.Field{Kind: schema.Map, Record: members}, len(left) == 0
	}
	value := in.inferType(entries, 1)
	data := 2*odd > len(o) || len(o) >= 256 || !top && len(o) >= 8
	scalar := value.Of == nil && value.Fields == nil && value.Type != schema.TypeJSON
	return schema.Field{Kind: schema.Map, Value: &value}, data && scalar
}

// similar reports whether n objects share most of their members.
func similar(columns []column, n int) bool {
	common := 0
	for _, c := range columns {
		if 2*len(c.values) >= n {
			common++
		}
	}
	return len(columns) > 0 && 2*common >= len(columns)
}

// firstOf returns the first step of a pointer.
func firstOf(at jsontext.Pointer) jsontext.Pointer {
	for token := range at.Tokens() {
		return jsontext.Pointer("").AppendToken(token)
	}
	return at
}
