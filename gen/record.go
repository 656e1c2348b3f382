package gen

import (
	"strings"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/schema/declare"
)

// An enum is a Go type with one function for each value.
type enum struct {
	Whose, Go string
	Values    []enumValue
	owner     string // of the field
}

type enumValue struct{ Value, Go string }

// List and All name the values in a sentence, one of them and all of them.
func (e enum) List() string { return enumerate(e.texts(), "or") }
func (e enum) All() string  { return enumerate(e.texts(), "and") }

func (e enum) texts() []string {
	var texts []string
	for _, v := range e.Values {
		texts = append(texts, v.Value)
	}
	return texts
}

// A record is a Go struct with one field for each member.
type record struct {
	Whose, Go string
	Members   []field
	spec      schema.Field
	owner     string // of the field
}

// Text is the record's own text, or nothing.
func (r record) Text() string { return sentence(r.spec.Doc) }

// addTypes adds the Go types that the view package declares for a field, which
// is whose in comments.
func (s *state) addTypes(whose string, f field) {
	if f.spec.Value != nil {
		s.addType(f.Owner, whose, f.typeName, *f.spec.Value)
		return
	}
	for _, m := range f.Members {
		s.addTypes(m.Name+" of "+whose, m)
	}
	if f.spec.EffectiveKind() != schema.Map {
		s.addType(f.Owner, whose, f.typeName, f.spec)
	}
}

// addType adds the Go types that a value like spec of the owner needs, the first
// of which is called name.
func (s *state) addType(owner, whose, name string, spec schema.Field) {
	switch spec.Type {
	case schema.TypeEnum:
		e := enum{Whose: whose, Go: name, owner: owner}
		for _, v := range spec.Values {
			e.Values = append(e.Values, enumValue{v, declare.GoValueName(name, v)})
		}
		s.Enums = append(s.Enums, e)
	case schema.TypeList:
		s.addType(owner, whose, declare.GoElementName(name, *spec.Of), *spec.Of)
	case schema.TypeRecord:
		r := record{Whose: whose, Go: name, spec: spec, owner: owner}
		for _, member := range spec.MemberNames() {
			m := newField(member, owner, spec.Fields[member])
			m.typeName = declare.GoMemberName(name, member, m.spec)
			r.Members = append(r.Members, m)
		}
		s.Records = append(s.Records, r)
		for _, m := range r.Members {
			s.addTypes(m.Name+" of "+whose, m)
		}
	}
}

// typeWords describes the type of f in the ownership matrix.
func typeWords(f schema.Field) string {
	switch {
	case f.EffectiveKind() == schema.Map && f.Value != nil:
		return kindWords(*f.Value)
	case f.EffectiveKind() == schema.Map:
		return "record"
	case f.Type == schema.TypeEnum:
		return "enum: " + strings.Join(f.Values, ", ")
	case f.Type == schema.TypeList:
		return "list of " + typeWords(*f.Of)
	case f.Type == schema.TypeRecord:
		var members []string
		for _, name := range f.MemberNames() {
			members = append(members, name+": "+typeWords(f.Fields[name]))
		}
		return "record {" + strings.Join(members, "; ") + "}"
	}
	return string(f.Type)
}

// kindWords is typeWords with the kind, where that is not the plain one.
func kindWords(f schema.Field) string {
	if kind := f.EffectiveKind(); kind != schema.Value {
		return string(kind) + " of " + typeWords(f)
	}
	return typeWords(f)
}

// A row of the ownership matrix is a field or a member of a map.
type row struct {
	Name, Owner, Kind, Type, Unit, Doc string
}

// Rows lists the fields and, below each map, what its owners have in it.
func (s *state) Rows() []row {
	var rows []row
	for _, f := range s.Fields {
		kind := string(f.spec.EffectiveKind())
		unit := f.spec.Unit
		if f.spec.Value != nil {
			unit = f.spec.Value.Unit
		}
		rows = append(rows, row{f.Name, f.Owner, kind, typeWords(f.spec), unit, strings.TrimSpace(f.spec.Doc + " " + f.Depends())})
		for _, m := range f.Members {
			rows = append(rows, row{f.Name + "." + m.Name, m.Owner, string(m.spec.EffectiveKind()), typeWords(m.spec), m.spec.Unit, m.spec.Doc})
		}
	}
	return rows
}
