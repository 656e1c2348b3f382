package schema

import (
	"maps"
	"slices"
	"time"
)

// A Declaration is what one owners.yaml says: which owners a state has and
// which fields each of them owns. The zero value declares nothing. A
// Declaration is data; it is safe for concurrent use as long as nobody
// changes it.
type Declaration struct {
	// State is the state's name; it names the view package too.
	State string `json:"state"`
	// Package is the Go name of the view package. If empty, State.
	Package string `json:"package,omitempty"`
	// Owners by name.
	Owners map[string]Owner `json:"owners"`
}

// An Owner is the one declared role that may write a set of fields.
type Owner struct {
	// Doc says who plays the role.
	Doc string `json:"doc,omitempty"`
	// Mode says how many processes may play it at once. If empty, [Shared].
	Mode Mode `json:"mode,omitempty"`
	// Busy says what a commit does while another process holds the lock.
	Busy Busy `json:"busy,omitzero"`
	// Durability says what an acknowledged commit survives. If empty, [Power].
	Durability Durability `json:"durability,omitempty"`
	// Home is the directory, slash-separated and relative to the module
	// root, whose packages may write the owner's fields. If empty, the
	// folder of owners.yaml joined with the owner's name.
	Home string `json:"home,omitempty"`
	// Fields by name.
	Fields map[string]Field `json:"fields"`
}

// Busy says what a commit does when it does not get its owner's lock.
type Busy struct {
	// Wait is how long a commit waits for the lock, as [time.ParseDuration]
	// reads it. If empty, [DefaultWait].
	Wait string `json:"wait,omitempty"`
	// Then says what happens after that. If empty, [Fail].
	Then Then `json:"then,omitempty"`
}

// A Field is one value with one owner.
type Field struct {
	// Type of the value.
	Type Type `json:"type"`
	// Kind says how writes combine. If empty, [Value].
	Kind Kind `json:"kind,omitempty"`
	// Doc says what the value means; it becomes the accessors' comment.
	Doc string `json:"doc,omitempty"`
	// Unit of a number ("tokens", "US dollars"). It is for people.
	Unit string `json:"unit,omitempty"`
	// Values an enum may have.
	Values []string `json:"values,omitempty"`
	// Go is the name in generated code. If empty, it is made from the
	// field's name by Go's rules for initialisms.
	Go string `json:"go,omitempty"`
	// Legacy is the field's key in the file that Freehold replaces.
	Legacy string `json:"legacy,omitempty"`
}

// Mode says how many processes may play an owner at once.
type Mode string

// The modes of an owner.
const (
	Shared    Mode = "shared"    // many processes take turns
	Exclusive Mode = "exclusive" // one live process
)

// Durability says what an acknowledged commit survives.
type Durability string

// The levels of durability.
const (
	// Power: an acknowledged commit survives power loss.
	Power Durability = "power"
	// Process: an acknowledged commit survives the death of any process.
	// After power loss the file is an earlier whole version, never an empty
	// or a torn one.
	Process Durability = "process"
)

// Then says what becomes of a commit that did not get its owner's lock in time.
type Then string

// What a commit does that did not get its owner's lock in time.
const (
	Fail Then = "fail" // an error; nothing changed
)

// Kind says how the writes to a field combine.
type Kind string

// The kinds of field.
const (
	Value   Kind = "value"   // the owner's latest commit
	Max     Kind = "max"     // never moves down
	Min     Kind = "min"     // never moves up
	Counter Kind = "counter" // sums exactly
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
)

// DefaultWait is how long a commit waits for its owner's lock when the
// declaration does not say.
const DefaultWait = 250 * time.Millisecond

// Types lists every type, in the order of the documentation.
func Types() []Type {
	return []Type{TypeBool, TypeInt, TypeUint, TypeFloat, TypeDecimal, TypeString, TypeTime, TypeDuration, TypeEnum}
}

// Kinds lists every kind, in the order of the documentation.
func Kinds() []Kind { return []Kind{Value, Max, Min, Counter} }

// Allows reports whether a field of kind k may have type t: what max and min
// compare must have an order, and what a counter sums must sum exactly, which
// floating point does not.
func (k Kind) Allows(t Type) bool {
	switch k {
	case Value:
		return slices.Contains(Types(), t)
	case Max, Min:
		return t == TypeInt || t == TypeUint || t == TypeFloat || t == TypeDecimal || t == TypeTime || t == TypeDuration
	case Counter:
		return t == TypeInt || t == TypeUint || t == TypeDecimal || t == TypeDuration
	}
	return false
}

// OwnerNames returns the names of d's owners, sorted.
func (d *Declaration) OwnerNames() []string { return slices.Sorted(maps.Keys(d.Owners)) }

// OwnerOf returns the name of the owner that declares field, or false if none
// does.
func (d *Declaration) OwnerOf(field string) (owner string, ok bool) {
	for _, name := range d.OwnerNames() {
		if _, ok := d.Owners[name].Fields[field]; ok {
			return name, true
		}
	}
	return "", false
}

// FieldNames returns the names of o's fields, sorted.
func (o Owner) FieldNames() []string { return slices.Sorted(maps.Keys(o.Fields)) }

// EffectiveMode is o.Mode, or [Shared] where it is empty.
func (o Owner) EffectiveMode() Mode { return or(o.Mode, Shared) }

// EffectiveDurability is o.Durability, or [Power] where it is empty.
func (o Owner) EffectiveDurability() Durability { return or(o.Durability, Power) }

// EffectiveWait is how long a commit waits for o's lock. A Wait that does not
// parse counts as [DefaultWait]: package declare and [ParseManifest] refuse it
// long before.
func (o Owner) EffectiveWait() time.Duration {
	if wait, err := time.ParseDuration(o.Busy.Wait); err == nil && wait >= 0 {
		return wait
	}
	return DefaultWait
}

// EffectiveKind is f.Kind, or [Value] where it is empty.
func (f Field) EffectiveKind() Kind { return or(f.Kind, Value) }

func or[T ~string](v, otherwise T) T {
	if v == "" {
		return otherwise
	}
	return v
}
