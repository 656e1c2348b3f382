package gen

import (
	"strings"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/schema/declare"
)

// A spelling is a package's Go code for the type of a value, and for its codec.
type spelling struct{ Type, Codec string }

// spellings has all types but lists, and enums and records, which have a Go
// type each.
var spellings = map[schema.Type]spelling{
	schema.TypeBool:     {"bool", "schema.Bool"},
	schema.TypeInt:      {"int64", "schema.Int"},
	schema.TypeUint:     {"uint64", "schema.Uint"},
	schema.TypeFloat:    {"float64", "schema.Float"},
	schema.TypeDecimal:  {"decimal.Decimal", "schema.Decimal"},
	schema.TypeString:   {"string", "schema.String"},
	schema.TypeTime:     {"time.Time", "schema.Time"},
	schema.TypeDuration: {"time.Duration", "schema.Duration"},
	schema.TypeJSON:     {"jsontext.Value", "schema.JSON"},
}

// spell returns the spelling of a value like spec. A generated type has the
// name name and, in other packages, the prefix view.
func spell(view, name string, spec schema.Field) spelling {
	switch spec.Type {
	case schema.TypeEnum:
		return spelling{view + name, "schema.EnumOf(" + view + "Parse" + name + ")"}
	case schema.TypeRecord:
		return spelling{view + name, "schema.RecordOf[" + view + name + "]()"}
	case schema.TypeList:
		of := spell(view, declare.GoElementName(name, *spec.Of), *spec.Of)
		return spelling{"[]" + of.Type, "schema.ListOf(" + of.Codec + ")"}
	}
	return spellings[spec.Type]
}

// valueSpec describes f's value; of a map without a record, the value at a key.
func (f field) valueSpec() schema.Field {
	if f.spec.Value != nil {
		return *f.spec.Value
	}
	return f.spec
}

// View is the prefix of names in the view package.
func (f field) View() string { return f.view }

// Type and Codec are those of f's value; of a set, of an element.
func (f field) Type() string  { return spell(f.view, f.typeName, f.valueSpec()).Type }
func (f field) Codec() string { return spell(f.view, f.typeName, f.valueSpec()).Codec }

// IsMap, IsSet and IsRecordMap tell kinds of field apart.
func (f field) IsMap() bool       { return f.spec.EffectiveKind() == schema.Map }
func (f field) IsSet() bool       { return f.spec.EffectiveKind() == schema.Set }
func (f field) IsRecordMap() bool { return f.IsMap() && f.spec.Value == nil }

// OnWriter reports whether the accessor is a method of the Writer, not of Tx.
func (f field) OnWriter() bool { return f.spec.EffectiveKind().OnWriter() }

// Entry is the name of the Go type of a map's entry. The one field of the type
// has a name of its own, so that Go converts no map's entry into another's.
func (f field) Entry() string      { return declare.GoEntryName(f.Go) }
func (f field) EntryField() string { return "of" + f.Go }

// Kind is the name of the type in package sidecar for the kind of f, or of its
// values. The constructors of the type have the same name and "Of" or "In".
func (f field) Kind() string {
	kind := string(f.valueSpec().EffectiveKind())
	return strings.ToUpper(kind[:1]) + kind[1:]
}

// Dependent reports whether the field is computed from others. Seen is the name
// of the Go type for observed versions of those, and Observe the name of the
// method that returns them. The one field of the type has a name of its own, so
// that Go does not convert the token of another field.
func (f field) Dependent() bool   { return f.spec.Dependent() }
func (f field) Seen() string      { return declare.GoSeenName(f.Go) }
func (f field) Observe() string   { return declare.GoObserveName(f.Go) }
func (f field) SeenField() string { return "of" + f.Go }

// Before and Unobserved are settings, for tests, of a value that was overtaken
// and of one with nothing observed.
func (f field) Before() string     { return declare.GoBeforeName(f.Go) }
func (f field) Unobserved() string { return declare.GoUnobservedName(f.Go) }

// Dependencies lists the fields that f depends on, DependencyList in a sentence.
func (f field) Dependencies() []string { return f.spec.DependsOn }
func (f field) DependencyList() string { return enumerate(f.spec.DependsOn, "and") }

// Setting is the name of the setting of a member of the map with the Go name
// whole.
func (f field) Setting(whole string) string { return declare.GoMemberName(whole, f.Name, f.spec) }
