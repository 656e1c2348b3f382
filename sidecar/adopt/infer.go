package adopt

import (
	"cmp"
	"errors"
	"slices"

	"github.com/freehold-dev/freehold/schema"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/shopspring/decimal"
)

// InferredOwner is the one owner of what [Infer] proposes. Which programs write
// which fields no file can tell.
const InferredOwner = "everything"

// An Inferred is what [Infer] proposes for a legacy file.
type Inferred struct {
	// Fields by name, for one owner.
	Fields map[string]schema.Field
	// Left are the keys for which there is no field, in file order.
	Left []Undeclared
	// TooLarge says that one owner's sidecar could not hold all of it.
	TooLarge bool
}

// An Undeclared is a key of a legacy file for which no field is proposed.
type Undeclared struct {
	Pointer jsontext.Pointer
	// Why, in words that follow "since".
	Why string
}

// Infer proposes fields for a legacy file that has none: types by the values
// that are there, so that [Legacy.Plan] finds no misfit, where there is none but
// null by those whose keys are like it, a legacy key where a key is no name,
// and no kind but value and map, since one file does not show how its values came
// about. What no field could hold, or name, is left.
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

// fit leaves out what cannot be stored, however it is declared.
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

// A column is all the values that a legacy file has under one key: one at its
// top, and as many as there are objects in a list or a map.
type column struct {
	key    string
	values [][]byte
}

// inferFields names the columns, infers each, and returns the keys that have
// no name.
func inferFields(columns []column, infer func(c column) schema.Field) (fields map[string]schema.Field, left []string) {
	fields = map[string]schema.Field{}
	for _, good := range []bool{true, false} { // so that every name stays with its own key
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

// inferField infers a field of its own, which may be a map.
func (in *inference) inferField(c column) schema.Field {
	if o, err := schema.ParseObject(c.values[0]); err == nil {
		if f, ok := in.inferMap(o, false); ok {
			return f
		}
	}
	return in.inferType(c, 0)
}

// inferType infers the type of the values of a column, which nest as deep as
// nest within a declaration.
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

// holds reports whether a field like f can hold all of the values, losing
// nothing of them.
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

// shortest reports whether a double keeps every digit of the number.
func shortest(number []byte) bool {
	stored, err := schema.Field{Type: schema.TypeFloat}.Normalize(number)
	if err != nil || len(number) > mostDigits {
		return false
	}
	a, err1 := decimal.NewFromString(string(number))
	b, err2 := decimal.NewFromString(string(stored))
	return err1 == nil && err2 == nil && a.Equal(b)
}

// inferParts returns what the values may be if they have parts.
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
		if of.Type == schema.TypeList { // which Go has no good name for
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

// mostMembers is the most members that an inferred record has: with more of
// them they are data.
const mostMembers = 64

// columnsOf returns the members of objects by key, in the order in which they
// come up.
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

// inferMap infers a map where the keys of o are data: where most of them are
// no names, or where what they have is alike. The top of a file needs more for
// that: many a file has numbers alone, or two parts that are alike.
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

// similar reports whether objects, of which there are n, have most of their
// members in common.
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
