package reader

import "github.com/freehold-dev/freehold/schema"

// declared is what a manifest says, in the form in which views use it. It is
// immutable.
type declared struct {
	stateID     string
	declaration *schema.Declaration
	owners      []string // sorted
	fields      map[string]place
}

// A place says where a field is: in which owner's sidecar, as what.
type place struct {
	owner int // index in owners
	field schema.Field
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
		for name, field := range d.declaration.Owners[owner].Fields {
			d.fields[name] = place{i, field}
		}
	}
	return d, nil
}
