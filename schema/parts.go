package schema

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Parts names everything that d declares, sorted: "owner NAME" for an owner,
// "field NAME" for a field, and below it, each after a slash, the members of
// records and of maps, * for the elements of a list and the values of a map,
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

// Beyond returns the parts of d that other lacks, as [Declaration.Parts] names
// them, without the parts below a missing one.
func (d *Declaration) Beyond(other *Declaration) (missing []string) {
	there, last := other.Parts(), "\x00"
	for _, part := range d.Parts() {
		rest, below := strings.CutPrefix(part, last)
		if _, found := slices.BinarySearch(there, part); found || below && strings.ContainsAny(rest[:1], "/=") {
			continue
		}
		missing, last = append(missing, part), part
	}
	return missing
}

// parts appends f, which is called at, and the parts below it.
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
// former one. Parts that next declares again count as removed no more, and of owners
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

// An Origin says where a field of a changed declaration was before.
type Origin struct {
	Owner string
	Field string
}

// Origin returns where the field of owner in next is in d: under the name that it
// had before, or else under the same one; with owner, or else with another.
// It returns false if the field is new. Of a map of several owners it is the
// same owner's part, or else that of the owner who decides the keys.
func (d *Declaration) Origin(next *Declaration, owner, field string) (o Origin, ok bool) {
	return d.origin(owner, next.former(field, next.Owners[owner].Fields[field].Was, next.OwnerOf), d.OwnerOf)
}

// origin is Origin for a field that may have had one of the names.
func (d *Declaration) origin(owner string, names []string, ownerOf func(string) (string, bool)) (o Origin, ok bool) {
	for _, name := range names {
		if _, ok := d.Owners[owner].Fields[name]; ok {
			return Origin{owner, name}, true
		}
		if there, ok := ownerOf(name); ok {
			return Origin{there, name}, true
		}
	}
	return o, false
}

// former returns the names under which a field may have been before. The name
// of one that is still declared is not among them.
func (d *Declaration) former(name, was string, ownerOf func(string) (string, bool)) []string {
	if _, taken := ownerOf(was); was == "" || taken {
		return []string{name}
	}
	return []string{was, name}
}

// MemberOrigin returns where the member of the map field in next is in d, whose
// map is called there: its owner and its name. It returns false if the member is
// new.
func (d *Declaration) MemberOrigin(next *Declaration, there, field, member string) (o Origin, ok bool) {
	joined, _ := next.Joined(field)
	declares := func(name string) bool { _, ok := joined.Record[name]; return ok }
	return d.memberOrigin(there, formerMember(member, joined.Record[member].Was, declares), d.OwnersOf(there))
}

// memberOrigin is MemberOrigin for a member that may have had one of the names, in
// a map of the owners.
func (d *Declaration) memberOrigin(there string, names, owners []string) (o Origin, ok bool) {
	for _, name := range names {
		if owner, ok := d.memberOwner(there, name, owners); ok {
			return Origin{owner, name}, true
		}
	}
	return o, false
}

// memberOwner returns the one of the map's owners that declares the member.
func (d *Declaration) memberOwner(field, member string, owners []string) (owner string, ok bool) {
	for _, owner := range owners {
		if _, ok := d.Owners[owner].Fields[field].Record[member]; ok {
			return owner, true
		}
	}
	return "", false
}

// formerMember is former for a member of a record, of which declares knows the
// names now.
func formerMember(name, was string, declares func(string) bool) []string {
	if was == "" || declares(was) {
		return []string{name}
	}
	return []string{was, name}
}

// Shareable reports whether several owners may have parts of f: it is a map
// with records at its keys.
func (f Field) Shareable() bool { return f.EffectiveKind() == Map && f.Value == nil }
