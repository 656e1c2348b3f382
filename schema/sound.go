package schema

import (
	"fmt"
	"maps"
	"slices"
)

// MaxNest is how deep the types of a declaration may nest: a list of records
// with a list in it nests 3 deep.
const MaxNest = 4

// sound returns the first fault of f, which must be of one of the kinds. The
// sentence begins after the field's name.
func (f Field) sound(kinds []Kind, nest int) error {
	kind := f.EffectiveKind()
	switch {
	case !slices.Contains(kinds, kind) || !kind.Allows(f.Type):
		return fmt.Errorf("has the kind %q of type %q, which this release does not know there", kind, f.Type)
	case nest > MaxNest:
		return fmt.Errorf("nests deeper than the %d levels allowed", MaxNest)
	case (f.Type == TypeList) != (f.Of != nil):
		return fmt.Errorf("is of type %q and says what a list is of, or does not say it of a list", f.Type)
	case f.Type != TypeRecord && len(f.Fields) > 0:
		return fmt.Errorf("has members and is of type %q", f.Type)
	case kind != Map && (f.Value != nil || len(f.Record) > 0 || f.Keys):
		return fmt.Errorf("has what only a map has and is of kind %q", kind)
	case nest > 0 && len(f.DependsOn) > 0:
		return fmt.Errorf("depends on something, which only a whole field can")
	case f.Value != nil && len(f.Record) > 0:
		return fmt.Errorf("has both a value and a record at a key")
	case f.Of != nil:
		return within("whose elements", f.Of.sound(partKinds, nest+1))
	case f.Value != nil:
		return within("whose value", f.Value.sound(entryKinds, nest+1))
	}
	kinds = partKinds
	members := f.Fields
	if kind == Map {
		kinds, members = entryKinds, f.Record
	}
	for _, name := range f.MemberNames() {
		if !ValidName(name) {
			return fmt.Errorf("has the member %q, whose name does not fit %s", name, NameRule)
		}
		if err := within("whose member "+name, members[name].sound(kinds, nest+1)); err != nil {
			return err
		}
	}
	return nil
}

// The kinds of a part of a value, and of a value at a key of a map.
var (
	partKinds  = []Kind{Value}
	entryKinds = []Kind{Value, Max, Min, Counter}
)

func within(part string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %w", part, err)
}

// orders lists the reasons why the owner called name cannot defer, if it does.
func (o Owner) orders(name string) (clashes []string) {
	if !o.Defers() {
		return nil
	}
	if o.EffectiveMode() != Shared {
		clashes = append(clashes, fmt.Sprintf("owner %s defers and is %s", name, o.EffectiveMode()))
	}
	for _, field := range o.FieldNames() {
		if member, ok := o.Fields[field].Commutes(); !ok {
			what := "field " + field
			if member != "" {
				what += ", member " + member
			}
			clashes = append(clashes, fmt.Sprintf("owner %s defers, and of %s the order of writes counts", name, what))
		}
	}
	return clashes
}

// tooMany returns an error if d exceeds a limit of a state.
func (d *Declaration) tooMany() error {
	if len(d.Owners) > MaxOwners {
		return fmt.Errorf("the state has %d owners, more than the %d allowed", len(d.Owners), MaxOwners)
	}
	for _, owner := range d.OwnerNames() {
		if n := len(d.Owners[owner].Fields); n > MaxFields {
			return fmt.Errorf("owner %s has %d fields, more than the %d allowed", owner, n, MaxFields)
		}
	}
	return nil
}

// shared lists the faults of fields that several owners declare: a field with two
// owners, a member with two owners, a map without exactly one owner of its keys.
func (d *Declaration) shared() []string {
	var clashes []string
	owner := map[[2]string]string{} // by field and member; the map itself has member ""
	owners, keys := map[string]int{}, map[string]int{}
	for _, name := range d.OwnerNames() {
		for _, field := range d.Owners[name].FieldNames() {
			f := d.Owners[name].Fields[field]
			if owners[field]++; f.Keys {
				keys[field]++
			}
			first, taken := owner[[2]string{field, ""}]
			other := d.Owners[first].Fields[field]
			switch {
			case !taken:
				owner[[2]string{field, ""}] = name
			case !f.Shareable() || !other.Shareable():
				clashes = append(clashes, fmt.Sprintf("field %s has two owners, %s and %s", field, first, name))
				continue
			}
			for _, member := range f.MemberNames() {
				if other, ok := owner[[2]string{field, member}]; ok && f.Shareable() {
					clashes = append(clashes, fmt.Sprintf("member %s of map %s has two owners, %s and %s", member, field, other, name))
				}
				owner[[2]string{field, member}] = name
			}
		}
	}
	for _, field := range slices.Sorted(maps.Keys(owners)) {
		if owners[field] > 1 && keys[field] != 1 {
			clashes = append(clashes, fmt.Sprintf("map %s has %d owners and %d of them decide its keys", field, owners[field], keys[field]))
		}
	}
	return clashes
}
