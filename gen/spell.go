package gen

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/schema/declare"
)

// A spelling is how a package spells the Go type of a value, and its codec.
type spelling struct{ Type, Codec string }

// spell returns the spelling of a value like spec, for which a Go type is
// called name if it needs one. view is the view package's name and a dot, or
// empty in that package itself.
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
	return spelling{goTypes[spec.Type].name, goTypes[spec.Type].codec}
}

// value is the spelling of f's value; of a map, of what it has at a key if that
// is no record; of a set, of an element.
func (f field) value() spelling {
	if f.spec.Value != nil {
		return spell(f.view, f.typeName, *f.spec.Value)
	}
	return spell(f.view, f.typeName, f.spec)
}

// Type and Codec are those of f's value.
func (f field) Type() string  { return f.value().Type }
func (f field) Codec() string { return f.value().Codec }

// IsMap, IsSet and IsRecordMap tell kinds of field apart.
func (f field) IsMap() bool       { return f.spec.EffectiveKind() == schema.Map }
func (f field) IsSet() bool       { return f.spec.EffectiveKind() == schema.Set }
func (f field) IsRecordMap() bool { return f.IsMap() && f.spec.Value == nil }

// OnWriter reports whether the accessor is a method of the Writer, not of the Tx,
// and WriteType which of the two it is.
func (f field) OnWriter() bool { return f.spec.EffectiveKind().OnWriter() }

func (f field) WriteType() string {
	if f.OnWriter() {
		return "Writer"
	}
	return "Tx"
}

// Entry is the name of the Go type of what a map has at a key. Its one field
// has a name of its own, so that Go converts no map's entry into another's.
func (f field) Entry() string      { return declare.GoEntryName(f.Go) }
func (f field) EntryField() string { return "of" + f.Go }

// handle is the type in package sidecar that a member of f's kind has; its
// constructors have the same name and "Of" or "In".
func (f field) handle() string {
	if f.spec.Value != nil {
		return handles[f.spec.Value.EffectiveKind()]
	}
	return handles[f.spec.EffectiveKind()]
}

// Handle is the type of what a writer's accessor returns.
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
// of the Go type of what was seen of them, and Observe that of the method by
// which a view makes one. SeenField is the only field of that type: it is called
// after the type, so that a token does not even convert into that of another
// field which depends on the same.
func (f field) Dependent() bool   { return f.spec.Dependent() }
func (f field) Seen() string      { return declare.GoSeenName(f.Go) }
func (f field) Observe() string   { return declare.GoObserveName(f.Go) }
func (f field) SeenField() string { return "of" + f.Go }

// Before and Unobserved are the settings, for tests, of a value that was
// overtaken and of one whose writer did not say what it had seen.
func (f field) Before() string     { return declare.GoBeforeName(f.Go) }
func (f field) Unobserved() string { return declare.GoUnobservedName(f.Go) }

// Dependencies names what the field depends on, as arguments and in a sentence.
func (f field) Dependencies() string {
	quoted := make([]string, len(f.spec.DependsOn))
	for i, name := range f.spec.DependsOn {
		quoted[i] = strconv.Quote(name)
	}
	return strings.Join(quoted, ", ")
}
func (f field) DependencyList() string { return enumerate(f.spec.DependsOn, "and") }

// Write is what a writer's accessor returns, of the transaction tx or the writer
// w.
func (f field) Write() string {
	name := strconv.Quote(f.Name)
	switch {
	case f.OnWriter():
		return fmt.Sprintf("sidecar.%sOf(w.w, %s)", f.handle(), name)
	case f.IsRecordMap():
		maker := map[bool]string{true: "MapOf", false: "PartOf"}[f.Decides()]
		return fmt.Sprintf("sidecar.%s(tx.tx, %s, func(e sidecar.Entry) %s { return %[3]s{e} })", maker, name, f.Entry())
	case f.IsMap():
		return fmt.Sprintf("sidecar.MapOf(tx.tx, %s, func(e sidecar.Entry) %s { return sidecar.%sIn(e, \"\", %s) })", name, f.inner(), f.handle(), f.Codec())
	}
	if f.Dependent() {
		return fmt.Sprintf("sidecar.Dependent%sOf[%s](tx.tx, %s, %s)", f.handle(), f.view+f.Seen(), name, f.Codec())
	}
	return fmt.Sprintf("sidecar.%sOf(tx.tx, %s, %s)", f.handle(), name, f.Codec())
}

// WriteIn is what the accessor of a member returns, of the entry e.
func (f field) WriteIn(entry string) string {
	return fmt.Sprintf("sidecar.%sIn(e.%s, %q, %s)", f.handle(), entry, f.Name, f.Codec())
}

// Shown is the type of what a view's accessor returns.
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

// Read is what a view's accessor returns, of the view v.
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

// ReadIn is what the accessor of a member returns, of the entry e.
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

// Setting is the name of the setting of a member of the map whose Go name is
// whole, and PutAt what it returns.
func (f field) Setting(whole string) string { return declare.GoMemberName(whole, f.Name, f.spec) }
func (f field) PutAt(field string) string {
	return fmt.Sprintf("statetest.PutAt(%q, key, %q, %s, v)", field, f.Name, f.Codec())
}
