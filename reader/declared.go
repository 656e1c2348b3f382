package reader

import (
	"slices"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// declared is a manifest as views use it. It is immutable.
type declared struct {
	manifest    *schema.Manifest    // with all that the program declares
	declaration *schema.Declaration // of manifest
	defers      map[string]bool     // the owners that defer by the state's own manifest
	owners      []string            // sorted
	order       []int               // of reading: dependents before their dependencies
	fields      map[string]place
	once        []onceField
	upgraded    map[int]store.Version // by index of an owner, the version that an upgrade has written
}

// A onceField is a field with a file of its own.
type onceField struct {
	owner, field string
}

// A place is the owner and the declaration of a field; of a map with several
// owners, those of the keys.
type place struct {
	owner   int // index in owners
	field   schema.Field
	parts   []int          // of such a map, the other owners
	claim   int            // of a once field, its index in once
	members map[string]int // of a map, the owner of each member
}

func declare(m *schema.Manifest, built *schema.Declaration) (*declared, error) {
	all := *m
	d := &declared{manifest: &all, declaration: &all.Declaration, defers: map[string]bool{}, fields: map[string]place{}, upgraded: map[int]store.Version{}}
	if built != nil {
		merged, _, err := m.Merge(built)
		if err != nil {
			return nil, err
		}
		all.Declaration = *merged
	}
	for name, o := range m.Declaration.Owners {
		d.defers[name] = o.Defers()
	}
	d.owners = d.declaration.OwnerNames()
	for i, owner := range d.owners {
		if made := store.Upgraded(m, owner); !made.IsZero() {
			d.upgraded[i] = made
		}
		for _, name := range d.declaration.Owners[owner].FieldNames() {
			p := d.place(i, name)
			if p.field.EffectiveKind() == schema.Once {
				p.claim, d.once = len(d.once), append(d.once, onceField{owner, name})
			}
			d.fields[name] = p
		}
	}
	d.arrange()
	return d, nil
}

// arrange puts the owners in the order of reading: dependents before their
// dependencies, so that a view has every observed version or a later one; and
// owners with members of a map before the owner of its keys. Dependencies form no
// cycle. Two owners that decide each other's keys have no order: a view that is
// not atomic may show the older keys of one.
func (d *declared) arrange() {
	dependents, parts := make([][]int, len(d.owners)), make([][]int, len(d.owners))
	for i, owner := range d.owners {
		for _, below := range d.declaration.OwnersBelow(owner) {
			j, _ := slices.BinarySearch(d.owners, below)
			dependents[j] = append(dependents[j], i)
		}
	}
	for _, p := range d.fields {
		parts[p.owner] = append(parts[p.owner], p.parts...)
	}
	placed := make([]bool, len(d.owners))
	waits := func(on []int) bool { return slices.ContainsFunc(on, func(i int) bool { return !placed[i] }) }
	for range d.owners {
		next := -1
		for i := range d.owners {
			if placed[i] || waits(dependents[i]) {
				continue
			}
			if next < 0 || waits(parts[next]) && !waits(parts[i]) {
				next = i
			}
		}
		placed[next] = true
		d.order = append(d.order, next)
	}
}

// place returns the place of a field that the i-th owner declares.
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
