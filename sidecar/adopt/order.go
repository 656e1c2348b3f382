package adopt

import (
	"maps"
	"slices"
)

// order sorts the parts: the keys of a map before other owners' values at them.
// Where two owners decide keys for each other, one of them gets two parts.
func (p *planner) order() []Part {
	var parts []Part
	waiting := map[string][]Value{}
	for owner, part := range p.parts {
		waiting[owner] = part.Values
	}
	placed := map[string]bool{} // maps with all keys placed
	for len(waiting) > 0 {
		owner, ready := p.next(waiting, placed)
		rest := slices.DeleteFunc(slices.Clone(waiting[owner]), func(v Value) bool { return slices.ContainsFunc(ready, v.is) })
		if waiting[owner] = rest; len(rest) == 0 {
			delete(waiting, owner)
		}
		for _, v := range ready {
			if keeper, _ := p.d.OwnerOf(v.Field); keeper == owner {
				placed[v.Field] = true
			}
		}
		parts = append(parts, Part{owner, ready})
	}
	return parts
}

func (v Value) is(other Value) bool { return v.Field == other.Field }

// next returns the first owner that can commit all its values, or else the
// first that can commit some, with these values. There is always one: keys wait
// for nothing.
func (p *planner) next(waiting map[string][]Value, placed map[string]bool) (owner string, ready []Value) {
	for _, name := range slices.Sorted(maps.Keys(waiting)) {
		values := slices.DeleteFunc(slices.Clone(waiting[name]), func(v Value) bool {
			keeper, _ := p.d.OwnerOf(v.Field)
			return keeper != name && !placed[v.Field]
		})
		if len(values) == len(waiting[name]) {
			return name, values
		}
		if owner == "" && len(values) > 0 {
			owner, ready = name, values
		}
	}
	return owner, ready
}
