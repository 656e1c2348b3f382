package declare

import (
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/schema"
	"go.yaml.in/yaml/v3"
)

// readMap reads what a map has at a key.
func (s *spec) readMap() {
	for _, key := range []string{"type", "of", "fields", "values", "unit"} {
		if n := s.m[key]; n != nil {
			s.report(at(n), `%s is a map and has %q: move it to "record:" or "value:", which say what the map has at a key`, s.what, key)
		}
	}
	f := &s.out.field
	record, value, keys := s.m["record"], s.m["value"], s.m["keys"]
	if keys != nil {
		var ok bool
		if f.Keys, ok = s.truth(keys, "keys of "+s.what); ok {
			s.out.keysAt = at(keys)
		}
	}
	switch {
	case record != nil && value != nil:
		s.report(at(value), `%s has both "record" and "value": keep the one that says what it has at a key`, s.what)
	case record != nil:
		f.Record = s.memberSpecs(record, asColumn)
	case value != nil:
		s.readMapValue(value)
	case !f.Keys:
		s.report(s.at, `%s is a map and does not say what it has at a key: add "record: {NAME: {type: …}}" or "value: {type: …}"`, s.what)
	}
}

func (s *spec) readMapValue(n *yaml.Node) {
	if s.m["keys"] != nil {
		s.report(at(s.m["keys"]), `%s is a map of plain values, whose one owner decides the keys: remove "keys"`, s.what)
	}
	value := s.part(n, "the value of "+s.what, asValue)
	if value.field.Kind == "" {
		value.field.Kind = schema.Value
	}
	s.out.element, s.out.field.Value = &value, &value.field
}

// truth reads true or false, or reports that n is neither.
func (r *reporter) truth(n *yaml.Node, what string) (yes, ok bool) {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!bool" && n.Style&yaml.TaggedStyle == 0 {
		return strings.EqualFold(n.Value, "true"), true
	}
	if n.Kind != yaml.AliasNode {
		r.report(at(n), "%s: want true or false, not %s", what, shape(n))
	}
	return false, false
}

// checkMaps reports maps of which it is not clear who decides the keys, and
// fills in what goes without saying. In an unfinished file nothing does.
func (f *fileReader) checkMaps() {
	if f.unfinished {
		return
	}
	parts := map[string][]*fieldEntry{}
	var names []string
	for o := range f.owners {
		for i := range f.owners[o].fields {
			field := &f.owners[o].fields[i]
			if field.field.Kind != schema.Map {
				continue
			}
			if len(parts[field.name]) == 0 {
				names = append(names, field.name)
			}
			parts[field.name] = append(parts[field.name], field)
		}
	}
	for _, name := range names {
		if len(parts[name]) == 1 {
			f.checkOnly(parts[name][0])
		} else {
			f.checkParts(name, parts[name])
		}
	}
	for _, o := range f.owners {
		for _, field := range o.fields {
			o.owner.Fields[field.name] = field.field
		}
	}
}

// checkOnly checks a map that has one owner.
func (f *fileReader) checkOnly(only *fieldEntry) {
	switch {
	case only.keysAt != place{} && !only.field.Keys:
		f.report(only.keysAt, `map %s has one owner, which decides its keys: remove "keys: false"`, only.name)
	case only.field.Record == nil && only.field.Value == nil && only.field.Keys:
		f.report(only.at, "map %s has nothing at its keys: use kind set and type string", only.name)
	}
	only.field.Keys = true
}

// checkParts checks a map that has several owners.
func (f *fileReader) checkParts(name string, parts []*fieldEntry) {
	var decider *fieldEntry
	for _, p := range parts {
		switch {
		case !p.field.Keys:
		case decider != nil:
			f.report(p.keysAt, `two owners decide the keys of map %s, the first at %s: remove "keys" from one of the two`, name, f.cite(decider.keysAt))
		default:
			decider = p
		}
	}
	if decider == nil {
		f.report(parts[0].at, `map %s has %d owners, the next at %s, and none decides its keys: add "keys: true" to one of them`, name, len(parts), f.cite(parts[1].at))
		decider = parts[0]
	}
	for _, p := range parts {
		if p.field.Go != "" && p.field.Go != decider.field.Go {
			f.report(p.goAt, `map %s has another Go name for the owner of its keys, at %s: say it there`, name, f.cite(decider.at))
		}
		p.field.Go = decider.field.Go
		if p.field.Was != "" && p.field.Was != decider.field.Was {
			f.report(p.wasAt, `map %s had another name before for the owner of its keys, at %s: say it there`, name, f.cite(decider.at))
		}
		p.field.Was = decider.field.Was
		if p.field.Legacy != "" && p.field.Legacy != decider.field.Legacy {
			f.report(p.at, `map %s has another legacy key for the owner of its keys, at %s: say it there`, name, f.cite(decider.at))
		}
	}
}

// joins reports whether field is another owner's part of the map first.
func (first declared) joins(field fieldEntry) bool {
	shareable := func(f schema.Field) bool { return f.Kind == schema.Map && f.Value == nil }
	return shareable(first.field) && shareable(field.field)
}

// claimMembers notes which owner declares the members of a map, or reports
// that another one does already.
func (f *fileReader) claimMembers(owner string, field *fieldEntry) {
	if field.field.Kind != schema.Map {
		return
	}
	field.members = slices.DeleteFunc(field.members, func(m fieldEntry) bool {
		key := [2]string{field.name, m.name}
		first, taken := f.claimed[key]
		if taken {
			f.report(m.at, "owner %s declares member %s of map %s already, at %s: a member has one owner; remove or rename one of the two",
				plain(first.owner), m.name, field.name, f.cite(first.at))
			return true
		}
		f.claimed[key] = declared{owner, m.at, m.field}
		return false
	})
}
