package schema

import (
	"fmt"
	"slices"
	"strings"
)

// DependentKinds lists the kinds of field that may depend on others. What is
// written to a set or a map is written by element, and an observation is kept
// for a field as a whole.
func DependentKinds() []Kind { return []Kind{Value, Max, Min, Counter} }

// Dependent reports whether f was computed from fields of other owners.
func (f Field) Dependent() bool { return len(f.DependsOn) > 0 }

// NotObservable says why no value can depend on the field name, or is empty:
// what was seen of it could not be named by one version that stays. The
// sentence begins after the field's name.
func (d *Declaration) NotObservable(name string) string {
	return d.notObservable(name, d.OwnersOf(name))
}

func (d *Declaration) notObservable(name string, owners []string) string {
	switch {
	case len(owners) == 0:
		return "a field that no owner declares"
	case len(owners) > 1:
		return "a map of the owners " + strings.Join(owners, " and ") + ", so that no one version tells what it holds"
	case d.Owners[owners[0]].Fields[name].EffectiveKind() == Once:
		return "a once field, whose claim is in no sidecar and has no version there"
	case d.Owners[owners[0]].EffectiveDurability() != Power:
		return "a field that after a loss of power may be older than what was seen of it, since its owner " + owners[0] + " is not of durability power"
	}
	return ""
}

// OwnersBelow returns the owners whose fields those of owner depend on, sorted.
func (d *Declaration) OwnersBelow(owner string) []string {
	return d.ownersBelow(owner, d.OwnersOf)
}

func (d *Declaration) ownersBelow(owner string, ownersOf func(field string) []string) []string {
	var below []string
	for _, f := range d.Owners[owner].Fields {
		for _, name := range f.DependsOn {
			if other, ok := d.keysOwner(name, ownersOf(name)); ok && other != owner {
				below = append(below, other)
			}
		}
	}
	slices.Sort(below)
	return slices.Compact(below)
}

// DependencyCycle returns owners of which each depends on the next and the last
// on the first, or nothing if there are none.
func (d *Declaration) DependencyCycle() []string { return d.cycle(d.OwnersOf) }

func (d *Declaration) cycle(ownersOf func(field string) []string) []string {
	const open, done = 1, 2
	state := map[string]int{}
	var path, cycle []string
	var visit func(owner string)
	visit = func(owner string) {
		if state[owner] == open && cycle == nil {
			cycle = slices.Clone(path[slices.Index(path, owner):])
		}
		if state[owner] != 0 {
			return
		}
		state[owner] = open
		path = append(path, owner)
		for _, below := range d.ownersBelow(owner, ownersOf) {
			visit(below)
		}
		path = path[:len(path)-1]
		state[owner] = done
	}
	for _, owner := range d.OwnerNames() {
		visit(owner)
	}
	return cycle
}

// unsoundDependencies lists the faults of the fields' dependencies.
func (d *Declaration) unsoundDependencies() []string {
	var wrong []string
	index := d.index()
	ownersOf := func(field string) []string { return index[field] }
	for _, owner := range d.OwnerNames() {
		for _, field := range d.Owners[owner].FieldNames() {
			f := d.Owners[owner].Fields[field]
			if f.Dependent() && !slices.Contains(DependentKinds(), f.EffectiveKind()) {
				wrong = append(wrong, fmt.Sprintf("field %s is a %s and depends on other fields", field, f.EffectiveKind()))
			}
			for i, name := range f.DependsOn {
				if why := d.notObservable(name, index[name]); why != "" {
					wrong = append(wrong, fmt.Sprintf("field %s depends on %.80q, %s", field, name, why))
				} else if other, _ := d.keysOwner(name, index[name]); other == owner {
					wrong = append(wrong, fmt.Sprintf("field %s depends on %s, which is of the same owner", field, name))
				} else if slices.Contains(f.DependsOn[:i], name) {
					wrong = append(wrong, fmt.Sprintf("field %s depends on %s twice", field, name))
				}
			}
		}
	}
	if cycle := d.cycle(ownersOf); cycle != nil {
		wrong = append(wrong, fmt.Sprintf("the owners %s depend on each other in a circle", strings.Join(cycle, ", ")))
	}
	return wrong
}
