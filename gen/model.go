package gen

import (
	"path"
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/schema/declare"
)

// library is the import path of Freehold itself.
const library = "github.com/freehold-dev/freehold/"

// A state is what the templates draw on: the declaration, with every Go name
// and sentence made. Lists are sorted by the names in owners.yaml.
type state struct {
	Name     string
	Package  string // name of the view package
	By       string // what there is an instance for each of, or empty
	path     string // its import path
	folder   string // slash path relative to the module root
	Owners   []owner
	Fields   []field // of all owners, a map of several once
	Enums    []enum
	Records  []record
	declared *schema.Declaration
}

// An owner is one writer package.
type owner struct {
	Name, Doc, Mode, Durability, Home string
	Wait                              string
	defers                            bool
	Package                           string // name of the writer package
	dir                               string // slash path relative to the module root
	Fields                            []field
}

// A field is one accessor in each of three packages, or a member of what a map
// has at a key.
type field struct {
	Name, Go, Owner string
	Members         []field // of what a map has at a key, those of the package at hand
	spec            schema.Field
	typeName        string   // what a Go type made for its value is called, if it needs one
	view            string   // the view package's name and a dot, in other packages
	decider         string   // the owner who decides the keys of a map; else Owner
	others          []string // the other owners of the map
	havers          []string // all that have something at its keys
}

func newState(src *declare.Source, module string) *state {
	d := src.Declaration
	s := &state{
		Name:     d.State,
		Package:  d.Package,
		By:       d.Instances.By,
		path:     path.Join(module, src.Folder),
		folder:   path.Clean(src.Folder),
		declared: d,
	}
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
	slices.SortFunc(s.Fields, func(a, b field) int { return strings.Compare(a.Name, b.Name) })
	for _, f := range s.Fields {
		s.addTypes(f.Name, f)
	}
	return s
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
		defers:     declared.Defers(),
		Package:    declare.WriterPackage(name),
	}
	if o.Home == "" {
		o.Home = path.Join(folder, name)
	}
	o.dir = path.Join(o.Home, "internal", o.Package)
	for _, fieldName := range declared.FieldNames() {
		decider, _ := d.OwnerOf(fieldName)
		f := newField(fieldName, name, namedBy(d.Owners[decider].Fields[fieldName], declared.Fields[fieldName]))
		f.decider = decider
		f.others = slices.DeleteFunc(d.OwnersOf(fieldName), func(owner string) bool { return owner == decider })
		f.havers = slices.DeleteFunc(d.OwnersOf(fieldName), func(owner string) bool { return len(d.Owners[owner].Fields[fieldName].Record) == 0 })
		o.Fields = append(o.Fields, f)
	}
	return o
}

// namedBy returns an owner's part of a map under the name and, where it has no
// text, with the text that the owner of the keys gives the map.
func namedBy(decider, part schema.Field) schema.Field {
	part.Go = decider.Go
	if part.Doc == "" {
		part.Doc = decider.Doc
	}
	return part
}

func newField(name, owner string, spec schema.Field) field {
	f := field{Name: name, Go: declare.GoName(name, spec), Owner: owner, decider: owner, spec: spec}
	f.typeName = f.Go
	if spec.Value != nil {
		f.typeName = declare.GoElementName(f.Go, *spec.Value)
	}
	if spec.EffectiveKind() == schema.Map {
		f.Members = f.members(owner, spec)
	}
	return f
}

// members returns what an owner has at the keys of the map f.
func (f field) members(owner string, spec schema.Field) []field {
	var members []field
	for _, name := range spec.MemberNames() {
		m := newField(name, owner, spec.Record[name])
		m.typeName = declare.GoMemberName(f.Go, name, m.spec)
		members = append(members, m)
	}
	return members
}

// joined returns f as a view has it: a map with the members of all its owners.
func joined(f field, d *schema.Declaration) field {
	for _, owner := range f.others {
		if part := d.Owners[owner].Fields[f.Name]; f.spec.Doc == "" {
			f.spec.Doc = part.Doc
		}
		f.Members = append(f.Members, f.members(owner, d.Owners[owner].Fields[f.Name])...)
	}
	slices.SortFunc(f.Members, func(a, b field) int { return strings.Compare(a.Name, b.Name) })
	return f
}

// OwnerList names the owners in a sentence.
func (s *state) OwnerList() string {
	var names []string
	for _, o := range s.Owners {
		names = append(names, o.Name)
	}
	return enumerate(names, "and")
}

// enumerate writes "a, b and c".
func enumerate(words []string, last string) string {
	n := len(words)
	if n < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:n-1], ", ") + " " + last + " " + words[n-1]
}

// from returns f as a package spells it that imports the view package under
// the name view.
func (f field) from(view string) field {
	f.view = view + "."
	f.Members = from(view, f.Members)
	return f
}

// Text is the field's own text. Where there is none nobody can make one up.
func (f field) Text() string {
	if text := sentence(f.spec.Doc); text != "" {
		return text
	}
	return "owners.yaml does not say what it means."
}

// Unit is a sentence or empty.
func (f field) Unit() string {
	if unit := clean(f.spec.Unit); unit != "" {
		return sentence("Unit: " + unit)
	}
	return ""
}

// Refuses and Settles are sentences or empty, and so is Combines.
func (f field) Refuses() string {
	if !f.Decides() {
		return "At a key that " + f.decider + " has not created the Update fails with [sidecar.ErrNoKey]."
	}
	return refuses(f.spec)
}
func (f field) Settles() string { return settles(f.spec) }

// Depends says what the field is computed from, or nothing.
func (f field) Depends() string {
	if !f.Dependent() {
		return ""
	}
	return "It depends on " + f.DependencyList() + "."
}

// Fresh says what a setting for tests has observed, or nothing.
func (f field) Fresh() string {
	if !f.Dependent() {
		return ""
	}
	return "It is written after all settings of " + f.DependencyList() + ", so that it is fresh."
}

// Combines also says whose a map is.
func (f field) Combines() string {
	if joins := f.Joins(); joins != "" {
		return joins
	}
	return combines(f.spec)
}

// Joins says whose a map of several owners is. Elsewhere it is empty.
func (f field) Joins() string {
	if len(f.others) == 0 {
		return ""
	}
	return "Its keys belong to " + f.decider + ", what is at them to " + enumerate(f.havers, "and") + "."
}

// MemberList names what a map has at a key, as far as the package knows it.
func (f field) MemberList() string {
	var names []string
	for _, m := range f.Members {
		names = append(names, m.Name)
	}
	if names == nil {
		return "nothing"
	}
	return enumerate(names, "and")
}

// committed returns the fields that an Update may change.
func (o owner) committed() []field {
	return slices.DeleteFunc(slices.Clone(o.Fields), field.OnWriter)
}

// Decides reports whether the owner decides the keys, of what is a map.
func (f field) Decides() bool { return f.decider == f.Owner }
