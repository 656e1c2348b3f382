package schema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
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

// dependencies checks the fields that values are computed from, and that the
// owners do not depend on each other in a circle.
func (c *checker) dependencies() {
	before := len(c.problems)
	for _, owner := range c.owners {
		for _, field := range c.d.Owners[owner].FieldNames() {
			f := c.d.Owners[owner].Fields[field]
			if !f.Dependent() {
				continue
			}
			at := PointerTo(owner, field) + "/depends_on"
			if kind := f.EffectiveKind(); !slices.Contains(DependentKinds(), kind) {
				c.report(at, "field %s is of kind %s, which is written by its parts, and an observation is kept for a whole field: let a field of kind %s depend on them",
					plain(field), kind, list(DependentKinds(), "or"))
				continue
			}
			for i := range f.DependsOn {
				c.dependency(at.AppendToken(fmt.Sprint(i)), owner, field, i)
			}
		}
	}
	if cycle := c.cycle(); cycle != nil && len(c.problems) == before {
		c.reportCycle(cycle)
	}
}

func (c *checker) dependency(at jsontext.Pointer, owner, field string, i int) {
	on := c.d.Owners[owner].Fields[field].DependsOn
	name, owners := on[i], c.index[on[i]]
	other, _ := c.d.keysOwner(name, owners)
	switch {
	case slices.Contains(on[:i], name):
		c.report(at, "field %s depends on %s twice: remove one", plain(field), plain(name))
	case name == field:
		c.report(at, "field %s depends on itself: name fields of other owners", plain(field))
	case len(owners) == 0:
		c.report(at, "field %s depends on %s, which no owner declares: %s", plain(field), plain(name), c.suggestion(owner, name))
	case other == owner:
		c.report(at, "field %s depends on %s, which is of the same owner %s and committed with it: remove it", plain(field), plain(name), plain(owner))
	case c.d.notObservable(name, owners) != "":
		first := c.owners[slices.IndexFunc(c.owners, func(o string) bool { return slices.Contains(owners, o) })]
		c.report(at, "field %s depends on %s (%s), %s: name another field", plain(field), plain(name), PointerTo(first, name), c.d.notObservable(name, owners))
	}
}

// mostGuesses bounds how often all fields are compared with one name: with
// thousands of each that would take minutes.
const mostGuesses = 16

// suggestion names a field that the unknown name, of which a field of owner
// depends, may have been meant to be.
func (c *checker) suggestion(owner, name string) string {
	if c.guesses++; c.guesses <= mostGuesses {
		var names []string
		for field, owners := range c.index {
			if !slices.Contains(owners, owner) {
				names = append(names, field)
			}
		}
		slices.Sort(names)
		if w, ok := Nearest(name, names); ok {
			return "did you mean " + w + "?"
		}
	}
	return "name a field of another owner"
}

// cycle returns owners of which each depends on the next and the last on the
// first, or nil.
func (c *checker) cycle() (cycle []string) {
	const open, done = 1, 2
	state := map[string]int{}
	var path []string
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
		for _, below := range c.d.ownersBelow(owner, func(field string) []string { return c.index[field] }) {
			visit(below)
		}
		path = path[:len(path)-1]
		state[owner] = done
	}
	for _, owner := range c.d.OwnerNames() {
		visit(owner)
	}
	return cycle
}

// reportCycle names, for each of the owners, the field by which it depends on
// the next.
func (c *checker) reportCycle(cycle []string) {
	format, args := "%s of %s depends on %s of %s", []any{list(cycle, "and")}
	var first jsontext.Pointer
	for i, owner := range cycle {
		next := cycle[(i+1)%len(cycle)]
		field, name, at := c.link(owner, next)
		args = append(args, field, owner, name, next)
		if i == 0 {
			first = at
			continue
		}
		format += ", %s of %s on %s of %s at %s"
		args = append(args, at)
	}
	c.report(first, "the owners %s depend on each other in a circle, so that none can be read before its dependencies: "+format+"; remove one of these", args...)
}

// link returns the first field of owner that depends on one of next, that one,
// and the place of the dependency.
func (c *checker) link(owner, next string) (field, name string, at jsontext.Pointer) {
	for _, field := range c.d.Owners[owner].FieldNames() {
		for i, name := range c.d.Owners[owner].Fields[field].DependsOn {
			if other, _ := c.d.keysOwner(name, c.index[name]); other == next {
				return field, name, (PointerTo(owner, field) + "/depends_on").AppendToken(fmt.Sprint(i))
			}
		}
	}
	return "", "", ""
}
