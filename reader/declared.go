package reader

import (
	"slices"

	"github.com/freehold-dev/freehold/schema"
)

// declared is what a manifest says, in the form in which views use it. It is
// immutable.
type declared struct {
	stateID     string
	declaration *schema.Declaration
	owners      []string // sorted
	order       []int    // in which they are read: who has members of a map before who decides its keys
	fields      map[string]place
}

// A place says where a field is: in which owner's sidecar, as what. Of a map
// with several owners it is where the keys are.
type place struct {
	owner   int // index in owners
	field   schema.Field
	parts   []int          // of such a map, the other owners
	members map[string]int // of a map, the owner of each member
}

func declare(m *schema.Manifest, built *schema.Declaration) (*declared, error) {
	d := &declared{stateID: m.StateID, declaration: &m.Declaration, fields: map[string]place{}}
	if built != nil {
		merged, _, err := m.Declaration.Merge(built)
		if err != nil {
			return nil, err
		}
		d.declaration = merged
	}
	d.owners = d.declaration.OwnerNames()
	for i, owner := range d.owners {
		for name := range d.declaration.Owners[owner].Fields {
			d.fields[name] = d.place(i, name)
		}
	}
	d.arrange()
	return d, nil
}

// arrange puts the owners in the order in which they are read. Two that decide
// each other's keys have none; a view that is not atomic may then show the
// older keys of one.
func (d *declared) arrange() {
	dependents := make([][]int, len(d.owners))
	for _, p := range d.fields {
		dependents[p.owner] = append(dependents[p.owner], p.parts...)
	}
	seen := make([]bool, len(d.owners))
	var visit func(owner int)
	visit = func(owner int) {
		if seen[owner] {
			return
		}
		seen[owner] = true
		for _, dependent := range dependents[owner] {
			visit(dependent)
		}
		d.order = append(d.order, owner)
	}
	for owner := range d.owners {
		visit(owner)
	}
}

// place returns where the field name is, which the i-th owner declares.
func (d *declared) place(i int, name string) place {
	field, _ := d.declaration.Joined(name)
	p := place{owner: i, field: field}
	if field.EffectiveKind() != schema.Map {
		return p
	}
	p.members = map[string]int{}
	decider, _ := d.declaration.OwnerOf(name)
	for _, owner := range d.declaration.OwnersOf(name) {
		j, _ := slices.BinarySearch(d.owners, owner)
		for _, member := range d.declaration.Owners[owner].Fields[name].MemberNames() {
			p.members[member] = j
		}
		if owner == decider {
			p.owner = j
		} else {
			p.parts = append(p.parts, j)
		}
	}
	return p
}
