package schema

import (
	"maps"
	"slices"
)

// A Field is one value with one owner. A part of a value is described by a
// Field too: an element of a list, a member of a record, the value at a key of a
// map.
type Field struct {
	// Type of the value. Of a [Set], the type of its elements; a [Map] has
	// none.
	Type Type `json:"type,omitzero"`
	// Kind says how writes combine. If empty, [Value].
	Kind Kind `json:"kind,omitzero"`
	// Of is an element of a list.
	Of *Field `json:"of,omitzero"`
	// Fields are the members of a record. They have no kinds: a record is
	// written whole.
	Fields map[string]Field `json:"fields,omitempty"`
	// Record has the members, each with its kind, that a map keeps at a key.
	// Several owners may declare one map, each with members of its own.
	Record map[string]Field `json:"record,omitempty"`
	// Value is the value at a key of a map, if that is no record.
	Value *Field `json:"value,omitzero"`
	// Keys says that this owner decides which keys the map has. A map with
	// one owner needs no such word, and one with a Value may not have it.
	Keys bool `json:"keys,omitzero"`
	// DependsOn names the fields of other owners that the value is computed
	// from, as it was declared. Only a field has it, of one of the kinds in
	// [DependentKinds].
	DependsOn []string `json:"depends_on,omitempty"`
	// Doc is the meaning of the value; the text becomes the accessors' comment.
	Doc string `json:"doc,omitempty"`
	// Unit of a number ("tokens", "US dollars"). It is for people.
	Unit string `json:"unit,omitempty"`
	// Values an enum may have.
	Values []string `json:"values,omitempty"`
	// Go is the name in generated code. If empty, it is made from the
	// field's name by Go's rules for initialisms.
	Go string `json:"go,omitempty"`
	// Legacy is the field's key in the file that Freehold replaces, or
	// [LegacyFile].
	Legacy string `json:"legacy,omitempty"`
	// Was is the name that the field, or the member, had before. A state in
	// which it still has that name is upgraded by `freehold state upgrade`.
	Was string `json:"was,omitempty"`
}

// Kind says how the writes to a field combine.
type Kind string

// The kinds of field.
const (
	Value   Kind = "value"   // the owner's latest commit
	Max     Kind = "max"     // never moves down
	Min     Kind = "min"     // never moves up
	Counter Kind = "counter" // sums exactly
	Once    Kind = "once"    // the first claim, for good
	Event   Kind = "event"   // begun and done; the time of the last
	Set     Kind = "set"     // by element
	Map     Kind = "map"     // by key
)

// Type is the type of a field's value.
type Type string

// The types of a field.
const (
	TypeBool     Type = "bool"
	TypeInt      Type = "int"      // 64 bits, signed, exact
	TypeUint     Type = "uint"     // 64 bits, unsigned, exact
	TypeFloat    Type = "float"    // IEEE 754 double, finite
	TypeDecimal  Type = "decimal"  // exact; see [Decimal] for its bounds
	TypeString   Type = "string"   // UTF-8
	TypeTime     Type = "time"     // an instant with nanoseconds
	TypeDuration Type = "duration" // nanoseconds, as Go writes them
	TypeEnum     Type = "enum"     // one of Field.Values
	TypeList     Type = "list"     // of Field.Of, in an order
	TypeRecord   Type = "record"   // some of the members Field.Fields
	TypeJSON     Type = "json"     // any JSON, also null
)

var (
	scalars  = []Type{TypeBool, TypeInt, TypeUint, TypeFloat, TypeDecimal, TypeString, TypeTime, TypeDuration, TypeEnum}
	allTypes = append(slices.Clone(scalars), TypeList, TypeRecord, TypeJSON)
	allKinds = []Kind{Value, Max, Min, Counter, Once, Event, Set, Map}
)

// Types lists every type, in the order of the documentation.
func Types() []Type { return slices.Clone(allTypes) }

// Kinds lists every kind, in the order of the documentation.
func Kinds() []Kind { return slices.Clone(allKinds) }

// OnWriter reports whether a field of kind k is written by methods of the
// Writer, because a claim and a beginning are decided at once and are no part of a commit.
func (k Kind) OnWriter() bool { return k == Once || k == Event }

// Allows reports whether a field of kind k may have type t. The values of max and
// min must have an order, a counter must sum exactly, and two elements of a set
// must be the same or not; the last two exclude floating point. The value of a
// once field and of an event is a time. A map has no type.
func (k Kind) Allows(t Type) bool {
	switch k {
	case Value:
		return slices.Contains(allTypes, t)
	case Max, Min:
		return t == TypeInt || t == TypeUint || t == TypeFloat || t == TypeDecimal || t == TypeTime || t == TypeDuration
	case Counter:
		return t == TypeInt || t == TypeUint || t == TypeDecimal || t == TypeDuration
	case Once, Event:
		return t == TypeTime
	case Set:
		return t != TypeFloat && slices.Contains(scalars, t)
	case Map:
		return t == ""
	}
	return false
}

// commutes reports whether patches to f may be folded in any order, so that
// one may be deferred while others are committed. If not, member names the
// member of a map because of which; it is empty if that is f itself, or the one
// value that a map has at a key.
func (f Field) commutes() (member string, ok bool) {
	switch f.EffectiveKind() {
	case Max, Min, Counter, Set, Once: // a claim is decided at once, and in no patch
		return "", true
	case Map:
		if f.Value != nil {
			return f.Value.commutes()
		}
		for _, name := range f.MemberNames() {
			if _, ok := f.Record[name].commutes(); !ok {
				return name, false
			}
		}
		return "", true
	}
	return "", false
}

// EffectiveKind is f.Kind, or [Value] where it is empty.
func (f Field) EffectiveKind() Kind { return or(f.Kind, Value) }

// Element returns the declaration of the elements of a list or a set. It returns
// false for a field that has none.
func (f Field) Element() (Field, bool) {
	switch {
	case f.EffectiveKind() == Set:
		return Field{Type: f.Type, Unit: f.Unit, Values: f.Values}, true
	case f.Type == TypeList && f.Of != nil:
		return *f.Of, true
	}
	return Field{}, false
}

// Member returns the member called name of a record, or of the record at a
// key of a map. The value of a scalar map has the empty name.
func (f Field) Member(name string) (Field, bool) {
	if f.EffectiveKind() != Map {
		member, ok := f.Fields[name]
		return member, ok
	}
	if f.Value != nil {
		return *f.Value, name == ""
	}
	member, ok := f.Record[name]
	return member, ok
}

// MemberNames returns the names of the members of a record, or of the record
// at a key of a map, sorted. A scalar map has none.
func (f Field) MemberNames() []string {
	members := f.Fields
	if f.EffectiveKind() == Map {
		members = f.Record
	}
	if len(members) == 0 {
		return nil
	}
	return slices.Sorted(maps.Keys(members))
}

// OwnerOf returns the name of the owner that declares field, or false if none
// does. Of the owners of a map it is the one that decides the keys.
func (d *Declaration) OwnerOf(field string) (owner string, ok bool) {
	return d.keysOwner(field, d.OwnersOf(field))
}

// keysOwner returns the one of a field's owners that decides its keys, else the
// first, or false if there is none.
func (d *Declaration) keysOwner(field string, owners []string) (owner string, ok bool) {
	for _, name := range owners {
		if d.Owners[name].Fields[field].Keys {
			return name, true
		}
	}
	if len(owners) == 0 {
		return "", false
	}
	return owners[0], true
}

// OwnersOf returns the names of the owners that declare field, sorted. Only a
// map may have more than one.
func (d *Declaration) OwnersOf(field string) []string {
	var owners []string
	for name, o := range d.Owners {
		if _, ok := o.Fields[field]; ok {
			owners = append(owners, name)
		}
	}
	slices.Sort(owners)
	return owners
}

// index returns the owners of every field, sorted: once for many questions.
func (d *Declaration) index() map[string][]string {
	owners := map[string][]string{}
	for _, name := range d.OwnerNames() {
		for field := range d.Owners[name].Fields {
			owners[field] = append(owners[field], name)
		}
	}
	return owners
}

// Joined returns field as a view shows it: of a map, with the members of all
// its owners. It returns false if no owner declares it. The caller must not
// change the maps in the result.
func (d *Declaration) Joined(field string) (Field, bool) {
	owner, ok := d.OwnerOf(field)
	f := d.Owners[owner].Fields[field]
	owners := d.OwnersOf(field)
	if len(owners) < 2 {
		return f, ok
	}
	record := map[string]Field{}
	for _, name := range owners {
		maps.Copy(record, d.Owners[name].Fields[field].Record)
	}
	f.Record = record
	return f, true
}
