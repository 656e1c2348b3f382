package schema

// An Origin says where a field of a changed declaration was before.
type Origin struct {
	Owner string
	Field string
}

// Origin returns where the field of owner in next is in d: under the same name,
// or else under the one that it had before; with owner, or else with another.
// It returns false if the field is new. Of a map of several owners it is the
// same owner's part, or else that of the owner who decides the keys.
func (d *Declaration) Origin(next *Declaration, owner, field string) (o Origin, ok bool) {
	for _, name := range next.former(field, next.Owners[owner].Fields[field].Was) {
		if _, ok := d.Owners[owner].Fields[name]; ok {
			return Origin{owner, name}, true
		}
		if there, ok := d.OwnerOf(name); ok {
			return Origin{there, name}, true
		}
	}
	return o, false
}

// former returns the names under which a field may have been before. The name
// of one that is still declared is not among them.
func (d *Declaration) former(name, was string) []string {
	if _, taken := d.OwnerOf(was); was == "" || taken {
		return []string{name}
	}
	return []string{name, was}
}

// MemberOrigin returns where the member of the map field in next is in d, whose
// map is called there: its owner and its name. It returns false if the member is
// new.
func (d *Declaration) MemberOrigin(next *Declaration, there, field, member string) (o Origin, ok bool) {
	joined, _ := next.Joined(field)
	for _, name := range formerMember(joined.Record, member) {
		for _, owner := range d.OwnersOf(there) {
			if _, ok := d.Owners[owner].Fields[there].Record[name]; ok {
				return Origin{owner, name}, true
			}
		}
	}
	return o, false
}

// formerMember is former for a member of a record.
func formerMember(members map[string]Field, name string) []string {
	was := members[name].Was
	if _, taken := members[was]; was == "" || taken {
		return []string{name}
	}
	return []string{name, was}
}

// Shareable reports whether several owners may have parts of f: it is a map
// with records at its keys.
func (f Field) Shareable() bool { return f.EffectiveKind() == Map && f.Value == nil }
