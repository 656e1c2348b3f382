package gen

import (
	"path"
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/schema/declare"
)

// A state has all Go names of a declaration. Lists are sorted by the names in
// owners.yaml.
type state struct {
	Name     string
	Package  string // name of the view package
	By       string // the id of an instance, as session_id; empty without instances
	path     string // import path of the view package
	folder   string // slash path relative to the module root
	Owners   []owner
	Fields   []field // of all owners; a map of several owners once
	Enums    []enum
	Records  []record
	declared *schema.Declaration // with its module
}

// An owner is one writer package.
type owner struct {
	Name, Doc, Mode, Durability, Home string
	Wait                              string
	Exclusive, Defers                 bool
	Package                           string // name of the writer package
	dir                               string // slash path relative to the module root
	Fields                            []field
}

// A field is one accessor in each of three packages, or a member of a map.
type field struct {
	Name, Go, Owner string
	Members         []field // of a map's entry, as far as the package has them
	spec            schema.Field
	typeName        string   // the name of the value's Go type, if generated
	view            string   // in other packages than the view's, its name and a dot
	decider         string   // the owner of the keys of a map; else Owner
	others          []string // the other owners of the map
	havers          []string // the owners with members in the map
}

func newState(src *declare.Source, module string) *state {
	d := src.Declaration
	s := &state{
		Name:    d.State,
		Package: d.Package,
		By:      d.Instances.By,
		path:    path.Join(module, src.Folder),
		folder:  path.Clean(src.Folder),
	}
	generated := *d
	generated.Module = module
	s.declared = &generated
	if s.Package == "" {
		s.Package = d.State
	}
	for _, name := range d.OwnerNames() {
		o := newOwner(name, d, s.folder)
		s.Owners = append(s.Owners, o)
		for _, f := range o.Fields {
			if f.Decides() {
				s.Fields = append(s.Fields, joined(f, d))
			}
		}
	}
	sortByName(s.Fields)
	for _, f := range s.Fields {
		s.addTypes(f.Name, f)
	}
	return s
}

func sortByName(fields []field) {
	slices.SortFunc(fields, func(a, b field) int { return strings.Compare(a.Name, b.Name) })
}

func newOwner(name string, d *schema.Declaration, folder string) owner {
	declared := d.Owners[name]
	o := owner{
		Name:       name,
		Doc:        declared.Doc,
		Mode:       string(declared.EffectiveMode()),
		Durability: string(declared.EffectiveDurability()),
		Home:       declared.Home,
		Wait:       declared.EffectiveWait().String(),
		Exclusive:  declared.EffectiveMode() == schema.Exclusive,
		Defers:     declared.Defers(),
		Package:    declare.WriterPackage(name),
	}
	if o.Home == "" {
		o.Home = path.Join(folder, name)
	}
	o.dir = path.Join(o.Home, "internal", o.Package)
	for _, fieldName := range declared.FieldNames() {
		o.Fields = append(o.Fields, ownersField(fieldName, name, d))
	}
	return o
}

// ownersField returns an owner's field. A part of another owner's map has that
// one's Go name and, if it has no text, that one's text.
func ownersField(name, owner string, d *schema.Declaration) field {
	spec := d.Owners[owner].Fields[name]
	decider, _ := d.OwnerOf(name)
	spec.Go = d.Owners[decider].Fields[name].Go
	if spec.Doc == "" {
		spec.Doc = d.Owners[decider].Fields[name].Doc
	}
	f := newField(name, owner, spec)
	f.decider = decider
	for _, other := range d.OwnersOf(name) {
		if other != decider {
			f.others = append(f.others, other)
		}
		if len(d.Owners[other].Fields[name].Record) > 0 {
			f.havers = append(f.havers, other)
		}
	}
	return f
}

func newField(name, owner string, spec schema.Field) field {
	f := field{Name: name, Go: declare.GoName(name, spec), Owner: owner, decider: owner, spec: spec}
	f.typeName = f.Go
	if spec.Value != nil {
		f.typeName = declare.GoElementName(f.Go, *spec.Value)
	}
	if spec.EffectiveKind() == schema.Map {
		f.Members = newMembers(f.Go, owner, spec.Record)
	}
	return f
}

// newMembers returns the members of a record or a map with the Go name whole.
func newMembers(whole, owner string, specs map[string]schema.Field) []field {
	var members []field
	for name, spec := range specs {
		m := newField(name, owner, spec)
		m.typeName = declare.GoMemberName(whole, name, spec)
		members = append(members, m)
	}
	sortByName(members)
	return members
}

// joined returns f as a view has it: a map with the members of all its owners.
func joined(f field, d *schema.Declaration) field {
	for _, owner := range f.others {
		part := d.Owners[owner].Fields[f.Name]
		if f.spec.Doc == "" {
			f.spec.Doc = part.Doc
		}
		f.Members = append(f.Members, newMembers(f.Go, owner, part.Record)...)
	}
	sortByName(f.Members)
	return f
}

// from returns fields as a package spells them that imports the view package.
func from(view string, fields []field) []field {
	fields = slices.Clone(fields)
	for i := range fields {
		fields[i].view = view + "."
		fields[i].Members = from(view, fields[i].Members)
	}
	return fields
}

// Decides reports whether the owner of f decides the keys, if f is a map.
func (f field) Decides() bool { return f.decider == f.Owner }

// Own lists the members in the map f that belong to f's owner.
func (f field) Own() []field {
	return slices.DeleteFunc(slices.Clone(f.Members), func(m field) bool { return m.Owner != f.Owner })
}

// An enum is a Go type with one function for each value.
type enum struct {
	Of, Go string // Of names the field
	Values []enumValue
	spec   schema.Field
	owner  string
}

type enumValue struct{ Value, Go string }

// Or and And list the values in a sentence.
func (e enum) Or() string  { return enumerate(e.spec.Values, "or") }
func (e enum) And() string { return enumerate(e.spec.Values, "and") }

// A record is a Go struct with one field for each member.
type record struct {
	Of, Go  string // Of names the field
	Members []field
	spec    schema.Field
	owner   string
}

// addTypes adds the Go types that the view package declares for a field, which
// comments call of.
func (s *state) addTypes(of string, f field) {
	if f.spec.Value != nil {
		s.addType(f.Owner, of, f.typeName, *f.spec.Value)
		return
	}
	for _, m := range f.Members {
		s.addTypes(m.Name+" of "+of, m)
	}
	if f.spec.EffectiveKind() != schema.Map {
		s.addType(f.Owner, of, f.typeName, f.spec)
	}
}

// addType adds the Go types of a value like spec; name is that of the first.
func (s *state) addType(owner, of, name string, spec schema.Field) {
	switch spec.Type {
	case schema.TypeEnum:
		e := enum{Of: of, Go: name, spec: spec, owner: owner}
		for _, v := range spec.Values {
			e.Values = append(e.Values, enumValue{v, declare.GoValueName(name, v)})
		}
		s.Enums = append(s.Enums, e)
	case schema.TypeList:
		s.addType(owner, of, declare.GoElementName(name, *spec.Of), *spec.Of)
	case schema.TypeRecord:
		r := record{Of: of, Go: name, Members: newMembers(name, owner, spec.Fields), spec: spec, owner: owner}
		s.Records = append(s.Records, r)
		for _, m := range r.Members {
			s.addTypes(m.Name+" of "+of, m)
		}
	}
}
