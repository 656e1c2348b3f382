package gen

import (
	"fmt"
	"strconv"
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

// Type and Codec are those of f's value; of a set, of an element.
func (f field) Type() string  { return spell(f.view, f.typeName, f.valueSpec()).Type }
func (f field) Codec() string { return spell(f.view, f.typeName, f.valueSpec()).Codec }

// IsMap, IsSet and IsRecordMap tell kinds of field apart.
func (f field) IsMap() bool       { return f.spec.EffectiveKind() == schema.Map }
func (f field) IsSet() bool       { return f.spec.EffectiveKind() == schema.Set }
func (f field) IsRecordMap() bool { return f.IsMap() && f.spec.Value == nil }

// OnWriter reports whether the accessor is a method of the Writer, not of Tx.
func (f field) OnWriter() bool { return f.spec.EffectiveKind().OnWriter() }

// Entry is the name of the Go type of a map's entry. Its one field has a name
// of its own, so that Go converts no map's entry into another's.
func (f field) Entry() string      { return declare.GoEntryName(f.Go) }
func (f field) EntryField() string { return "of" + f.Go }

// handles has the type in package sidecar for each kind. Its constructors have
// the same name and "Of" or "In".
var handles = map[schema.Kind]string{
	schema.Value:   "Value",
	schema.Max:     "Max",
	schema.Min:     "Min",
	schema.Counter: "Counter",
	schema.Once:    "Once",
	schema.Event:   "Event",
	schema.Set:     "Set",
}

func (f field) handle() string { return handles[f.valueSpec().EffectiveKind()] }

// Handle is the type of a writer's accessor.
func (f field) Handle() string {
	switch {
	case f.OnWriter():
		return "sidecar." + f.handle()
	case f.IsRecordMap() && f.Decides():
		return "sidecar.Map[" + f.Entry() + "]"
	case f.IsRecordMap():
		return "sidecar.Part[" + f.Entry() + "]"
	case f.IsMap():
		return "sidecar.Map[" + f.inner() + "]"
	}
	return f.inner()
}

func (f field) inner() string {
	if f.Dependent() {
		return "sidecar.Dependent" + f.handle() + "[" + f.view + f.Seen() + ", " + f.Type() + "]"
	}
	return "sidecar." + f.handle() + "[" + f.Type() + "]"
}

// Dependent reports whether the field is computed from others. Seen is the name
// of the Go type of the versions observed of those, and Observe that of the
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

// Dependencies lists the fields that f depends on as arguments, DependencyList
// in a sentence.
func (f field) Dependencies() string {
	var quoted []string
	for _, name := range f.spec.DependsOn {
		quoted = append(quoted, strconv.Quote(name))
	}
	return strings.Join(quoted, ", ")
}
func (f field) DependencyList() string { return enumerate(f.spec.DependsOn, "and") }

// Write is the body of a writer's accessor, of the transaction tx or the writer
// w.
func (f field) Write() string {
	name := strconv.Quote(f.Name)
	switch {
	case f.OnWriter():
		return fmt.Sprintf("sidecar.%sOf(w.w, %s)", f.handle(), name)
	case f.IsRecordMap():
		maker, _, _ := strings.Cut(f.Handle(), "[")
		return fmt.Sprintf("%sOf(tx.tx, %s, func(e sidecar.Entry) %s { return %[3]s{e} })", maker, name, f.Entry())
	case f.IsMap():
		return fmt.Sprintf("sidecar.MapOf(tx.tx, %s, func(e sidecar.Entry) %s { return sidecar.%sIn(e, \"\", %s) })", name, f.inner(), f.handle(), f.Codec())
	case f.Dependent():
		return fmt.Sprintf("sidecar.Dependent%sOf[%s](tx.tx, %s, %s)", f.handle(), f.view+f.Seen(), name, f.Codec())
	}
	return fmt.Sprintf("sidecar.%sOf(tx.tx, %s, %s)", f.handle(), name, f.Codec())
}

// WriteIn is the body of a member's accessor, of the entry e.
func (f field) WriteIn(entry string) string {
	return fmt.Sprintf("sidecar.%sIn(e.%s, %q, %s)", f.handle(), entry, f.Name, f.Codec())
}

// Shown is the type of a view's accessor.
func (f field) Shown() string {
	switch {
	case f.IsRecordMap():
		return "reader.Map[" + f.Entry() + "]"
	case f.IsMap():
		return "reader.Map[reader.Field[" + f.Type() + "]]"
	case f.IsSet():
		return "reader.Field[[]" + f.Type() + "]"
	}
	return "reader.Field[" + f.Type() + "]"
}

// Read is the body of a view's accessor, of the view v.
func (f field) Read() string {
	name := strconv.Quote(f.Name)
	switch {
	case f.IsRecordMap():
		return fmt.Sprintf("reader.MapOf(v.v, %s, func(e reader.Entry) %s { return %[2]s{e} })", name, f.Entry())
	case f.IsMap():
		return fmt.Sprintf("reader.MapOf(v.v, %s, func(e reader.Entry) reader.Field[%s] { return reader.FieldIn(e, \"\", %s) })", name, f.Type(), f.Codec())
	case f.IsSet():
		return fmt.Sprintf("reader.FieldOf(v.v, %s, schema.ListOf(%s))", name, f.Codec())
	}
	return fmt.Sprintf("reader.FieldOf(v.v, %s, %s)", name, f.Codec())
}

// ReadIn is the body of a member's accessor, of the entry e.
func (f field) ReadIn(entry string) string {
	return fmt.Sprintf("reader.FieldIn(e.%s, %q, %s)", entry, f.Name, f.Codec())
}

// Parameters and Put are those of a setting for tests.
func (f field) Parameters() string {
	switch {
	case f.IsRecordMap():
		return "keys ...string"
	case f.IsMap():
		return "key string, v " + f.Type()
	case f.IsSet():
		return "elements ..." + f.Type()
	}
	return "v " + f.Type()
}

func (f field) Put() string {
	name := strconv.Quote(f.Name)
	switch {
	case f.IsRecordMap():
		return "statetest.Keys(" + name + ", keys...)"
	case f.IsMap():
		return "statetest.PutAt(" + name + ", key, \"\", " + f.Codec() + ", v)"
	case f.IsSet():
		return "statetest.Insert(" + name + ", " + f.Codec() + ", elements...)"
	}
	return "statetest.Put(" + name + ", " + f.Codec() + ", v)"
}

// Setting is the name of the setting of a member of the map with the Go name
// whole, and PutAt its body.
func (f field) Setting(whole string) string { return declare.GoMemberName(whole, f.Name, f.spec) }
func (f field) PutAt(field string) string {
	return fmt.Sprintf("statetest.PutAt(%q, key, %q, %s, v)", field, f.Name, f.Codec())
}
