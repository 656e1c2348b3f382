package verbs

import (
	"slices"

	"github.com/freehold-dev/freehold/schema"
)

// Field completes the one operand FIELD.
func Field(d *schema.Declaration, args []string) []string {
	if len(args) > 0 {
		return nil
	}
	return Fields(d, nil)
}

// Fields completes any number of operands FIELD.
func Fields(d *schema.Declaration, _ []string) []string {
	var names []string
	for _, owner := range d.OwnerNames() {
		names = append(names, d.Owners[owner].FieldNames()...)
	}
	slices.Sort(names)
	return slices.Compact(names) // of a map with several owners
}

// Owners completes the one operand OWNER.
func Owners(d *schema.Declaration, args []string) []string {
	if len(args) > 0 {
		return nil
	}
	return d.OwnerNames()
}

// fieldsOf completes OWNER, then the owner's fields of the kind, each with the
// suffix.
func fieldsOf(kind schema.Kind, suffix string) func(*schema.Declaration, []string) []string {
	return func(d *schema.Declaration, args []string) []string {
		if len(args) == 0 {
			return d.OwnerNames()
		}
		var names []string
		o := d.Owners[args[0]]
		for _, name := range o.FieldNames() {
			if o.Fields[name].EffectiveKind() == kind {
				names = append(names, name+suffix)
			}
		}
		return names
	}
}

// membersOf completes OWNER, MAP and, behind the key, the owner's members.
func membersOf(d *schema.Declaration, args []string) []string {
	if len(args) < 2 {
		return fieldsOf(schema.Map, "")(d, args)
	}
	if len(args) == 2 {
		return nil
	}
	var names []string
	for _, name := range d.Owners[args[0]].Fields[args[1]].MemberNames() {
		names = append(names, name+"=")
	}
	return names
}
