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
	path     string // its import path
	folder   string // slash path relative to the module root
	Owners   []owner
	Fields   []field
	Enums    []enum
	declared *schema.Declaration
}

// An owner is one writer package.
type owner struct {
	Name, Doc, Mode, Durability, Home string
	Wait                              string
	Package                           string // name of the writer package
	dir                               string // slash path relative to the module root
	Fields                            []field
}

// A field is one accessor in each of three packages. Type and Codec are as
// the view package spells them.
type field struct {
	Name, Go, Owner, Handle string
	Type, Codec             string
	spec                    schema.Field
}

// An enum is a Go type with one function for each value.
type enum struct {
	Name, Go string
	Values   []enumValue
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

func newState(src *declare.Source, module string) *state {
	d := src.Declaration
	s := &state{
		Name:     d.State,
		Package:  d.Package,
		path:     path.Join(module, src.Folder),
		folder:   path.Clean(src.Folder),
		declared: d,
	}
	if s.Package == "" {
		s.Package = d.State
	}
	for _, name := range d.OwnerNames() {
		o := newOwner(name, d.Owners[name], s.folder)
		s.Owners = append(s.Owners, o)
		s.Fields = append(s.Fields, o.Fields...)
	}
	slices.SortFunc(s.Fields, func(a, b field) int { return strings.Compare(a.Name, b.Name) })
	for _, f := range s.Fields {
		if f.spec.Type == schema.TypeEnum {
			s.Enums = append(s.Enums, newEnum(f))
		}
	}
	return s
}

func newOwner(name string, declared schema.Owner, folder string) owner {
	o := owner{
		Name:       name,
		Doc:        declared.Doc,
		Mode:       string(declared.EffectiveMode()),
		Durability: string(declared.EffectiveDurability()),
		Home:       declared.Home,
		Wait:       declared.EffectiveWait().String(),
		Package:    declare.WriterPackage(name),
	}
	if o.Home == "" {
		o.Home = path.Join(folder, name)
	}
	o.dir = path.Join(o.Home, "internal", o.Package)
	for _, fieldName := range declared.FieldNames() {
		o.Fields = append(o.Fields, newField(fieldName, name, declared.Fields[fieldName]))
	}
	return o
}

func newField(name, owner string, spec schema.Field) field {
	f := field{
		Name:   name,
		Go:     declare.GoName(name, spec),
		Owner:  owner,
		Handle: handles[spec.EffectiveKind()],
		Type:   goTypes[spec.Type].name,
		Codec:  goTypes[spec.Type].codec,
		spec:   spec,
	}
	if spec.Type == schema.TypeEnum {
		f.Type, f.Codec = f.Go, "schema.EnumOf(Parse"+f.Go+")"
	}
	return f
}

func newEnum(f field) enum {
	e := enum{Name: f.Name, Go: f.Go}
	for _, v := range f.spec.Values {
		e.Values = append(e.Values, enumValue{v, declare.GoValueName(f.Name, f.spec, v)})
	}
	return e
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
	if f.spec.Type == schema.TypeEnum {
		f.Type, f.Codec = view+"."+f.Go, "schema.EnumOf("+view+".Parse"+f.Go+")"
	}
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

// Refuses, Combines and Settles are sentences or empty.
func (f field) Refuses() string  { return refuses(f.spec) }
func (f field) Combines() string { return combines(f.spec) }
func (f field) Settles() string  { return settles(f.spec) }

// Kind, Doc and RawUnit are what stands in the declaration.
func (f field) Kind() string    { return string(f.spec.EffectiveKind()) }
func (f field) Doc() string     { return f.spec.Doc }
func (f field) RawUnit() string { return f.spec.Unit }

// RawType is the declaration's type, an enum's with its values.
func (f field) RawType() string {
	if f.spec.Type == schema.TypeEnum {
		return "enum: " + strings.Join(f.spec.Values, ", ")
	}
	return string(f.spec.Type)
}
