package schema

import (
	"fmt"
	"maps"
	"slices"
)

// Parts names everything that d declares, sorted: "owner NAME" for an owner,
// "field NAME" for a field, and below it, each after a slash, the members of
// records and of maps, * for what a list is of or a map of values has at a key,
// and =VALUE for a value of an enum. A field that several owners share is named
// once, and so is one that moves to another owner.
func (d *Declaration) Parts() []string {
	var parts []string
	for _, name := range d.OwnerNames() {
		parts = append(parts, "owner "+name)
		for _, field := range d.Owners[name].FieldNames() {
			parts = d.Owners[name].Fields[field].parts("field "+field, parts)
		}
	}
	slices.Sort(parts)
	return slices.Compact(parts)
}

// parts appends f, which is called at, and what is below it.
func (f Field) parts(at string, all []string) []string {
	all = append(all, at)
	for _, value := range f.Values {
		all = append(all, at+"="+value)
	}
	for _, part := range []*Field{f.Of, f.Value} {
		if part != nil {
			all = part.parts(at+"/*", all)
		}
	}
	for _, members := range []map[string]Field{f.Fields, f.Record} {
		for name, member := range members {
			all = member.parts(at+"/"+name, all)
		}
	}
	return all
}

// Merge is [Declaration.Merge] for the manifest's declaration, and holds that
// built declares nothing that an upgrade has removed: a program that does was
// built before it.
func (m *Manifest) Merge(built *Declaration) (*Declaration, bool, error) {
	if len(m.Removed) > 0 {
		declared := built.Parts()
		for _, part := range m.Removed {
			if _, found := slices.BinarySearch(declared, part); found {
				return nil, false, fmt.Errorf("%w: an upgrade of the state has removed %s, which is still declared", ErrDeclaration, part)
			}
		}
	}
	return m.Declaration.Merge(built)
}

// Replace makes next the declaration of m and remembers what goes with the
// former one. What next declares again counts as removed no more, and of owners
// that go nothing is known.
func (m *Manifest) Replace(next *Declaration) {
	declared := next.Parts()
	gone := slices.DeleteFunc(slices.Concat(m.Removed, m.Declaration.Parts()), func(part string) bool {
		_, found := slices.BinarySearch(declared, part)
		return found
	})
	slices.Sort(gone)
	m.Removed, m.Declaration = slices.Compact(gone), *next
	m.Upgraded = maps.Clone(m.Upgraded)
	maps.DeleteFunc(m.Upgraded, func(owner, _ string) bool {
		_, stays := next.Owners[owner]
		return !stays
	})
}

// subset reports whether every part of parts is in all. Both are sorted.
func subset(parts, all []string) bool {
	return !slices.ContainsFunc(parts, func(part string) bool {
		_, found := slices.BinarySearch(all, part)
		return !found
	})
}

// sortedParts is parts for a field of no name.
func (f Field) sortedParts() []string {
	parts := f.parts("", nil)
	slices.Sort(parts)
	return parts
}
