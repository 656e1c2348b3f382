package declare

import "github.com/freehold-dev/freehold/schema"

// readWas reads the name that a field or a member had before.
func (s *spec) readWas() {
	n := s.m["was"]
	text, ok := s.text(n, "the former name of "+s.what)
	switch {
	case !ok:
	case !schema.ValidName(text):
		s.report(at(n), "the former name of %s, %s, does not fit %s, so that nothing was ever called that: correct or remove it", s.what, quote(text), schema.NameRule)
	case text == s.name:
		s.report(at(n), "%s was called %s before, as it is now: remove \"was\"", s.what, text)
	default:
		s.out.field.Was, s.out.wasAt = text, at(n)
	}
}

// checkFormer reports former names that do not tell which value goes where: one
// that is still in use, and one that two claim.
func (f *fileReader) checkFormer() {
	var fields []fieldEntry
	members := map[string][]fieldEntry{} // of maps, by field: they may be several owners'
	var maps []string
	for _, o := range f.owners {
		for _, field := range o.fields {
			fields = append(fields, field)
			f.checkFormerIn(field)
			if field.field.Kind == schema.Map {
				if members[field.name] == nil {
					maps = append(maps, field.name)
				}
				members[field.name] = append(members[field.name], field.members...)
			}
		}
	}
	f.checkFormerOf(fields, "field")
	for _, name := range maps {
		f.checkFormerOf(members[name], "member")
	}
}

// checkFormerIn checks the records in the description of a value.
func (f *fileReader) checkFormerIn(e fieldEntry) {
	if e.element != nil {
		f.checkFormerIn(*e.element)
	}
	for _, member := range e.members {
		f.checkFormerIn(member)
	}
	if e.field.Type == schema.TypeRecord {
		f.checkFormerOf(e.members, "member")
	}
}

// checkFormerOf checks entries whose names are of one namespace. Several may
// have one name: they are parts of one map.
func (f *fileReader) checkFormerOf(entries []fieldEntry, what string) {
	now, claimed := map[string]fieldEntry{}, map[string]fieldEntry{}
	for _, e := range entries {
		if _, ok := now[e.name]; !ok {
			now[e.name] = e
		}
	}
	for _, e := range entries {
		was := e.field.Was
		if was == "" {
			continue
		}
		first, taken := claimed[was]
		if present, ok := now[was]; ok {
			f.report(e.wasAt, "%s %s was called %s before, and %s is declared at %s: a %s that keeps its name cannot become another; remove one of the two",
				what, plain(e.name), was, was, f.cite(present.at), what)
		} else if taken && first.name != e.name {
			f.report(e.wasAt, "%s %s was called %s before, and so was %s at %s: one of them is new; remove its \"was\"",
				what, plain(e.name), was, plain(first.name), f.cite(first.wasAt))
		} else {
			claimed[was] = e
		}
	}
}
