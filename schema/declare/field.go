package declare

import (
	"slices"

	"github.com/freehold-dev/freehold/schema"
	"go.yaml.in/yaml/v3"
)

// A role is where the description of a value stands, which decides what it may
// say.
type role struct {
	keys  []string
	kinds []schema.Kind
	why   string // it may not say more
}

var (
	valueKeys = []string{"type", "kind", "values", "of", "fields", "doc", "unit", "go", "legacy", "was"}
	mapKeys   = []string{"record", "value", "keys"}

	asField   = role{slices.Concat(valueKeys, mapKeys, []string{"depends_on"}), schema.Kinds(), ""}
	asElement = role{without(valueKeys, "kind", "legacy", "was"), nil, "a list is written whole and has a name only as a whole"}
	asMember  = role{without(valueKeys, "kind"), nil, "a record is written whole"}
	asColumn  = role{valueKeys, entryKinds, "a map has no map in it"}
	asValue   = role{without(valueKeys, "legacy", "was"), entryKinds, "the map is a field of its own"}

	entryKinds = []schema.Kind{schema.Value, schema.Max, schema.Min, schema.Counter}

	// impliedTypes has the kinds whose fields can be of one type only, which
	// then need not be said.
	impliedTypes = map[schema.Kind]schema.Type{schema.Once: schema.TypeTime, schema.Event: schema.TypeTime}
)

// A fieldEntry is a field, or a part of one, with its place in the file.
type fieldEntry struct {
	name    string
	at      place
	goAt    place   // of "go:", or at
	keysAt  place   // of "keys:", or zero
	wasAt   place   // of "was:", or zero
	values  []place // of each of the field's values
	depends []place // of each of the fields that it depends on
	field   schema.Field
	element *fieldEntry  // of a list, or the value of a map
	members []fieldEntry // of a record, or of what a map has at a key
}

// readField reads one field. The result is false if the name is so wrong that
// nothing more can be said about the field.
func (f *fileReader) readField(e entry) (fieldEntry, bool) {
	named := f.checkName(e.at, "field", e.name)
	field := f.readSpec(e, "field "+plain(e.name), asField, 0)
	if field.field.Kind == "" {
		field.field.Kind = schema.Value
	}
	return field, named
}

// readSpec reads the description of a value, which is what in messages and
// nests as deep as nest.
func (f *fileReader) readSpec(e entry, what string, r role, nest int) fieldEntry {
	s := spec{fileReader: f, role: r, entry: e, what: what, nest: nest}
	s.out = fieldEntry{name: e.name, at: e.at, goAt: e.at}
	if nest > schema.MaxNest {
		f.report(e.at, "%s nests deeper than the %d levels allowed: flatten it, or use type json", what, schema.MaxNest)
		return s.out
	}
	s.read()
	return s.out
}

// A spec reads the description of one value.
type spec struct {
	*fileReader
	role
	entry
	what string
	nest int
	m    map[string]*yaml.Node
	out  fieldEntry
}

func (s *spec) read() {
	want := "{type: …}"
	if slices.Contains(words(schema.Types()...), s.value.Value) {
		want = "{type: " + s.value.Value + "}"
	}
	s.m = map[string]*yaml.Node{}
	for _, e := range s.entries(s.value, s.what, want) {
		switch {
		case s.has(e.name):
			s.m[e.name] = e.value
		case e.name == "depends_on":
			s.report(e.at, "%q does not belong in %s, since what was seen is kept for a whole field: remove it", e.name, s.what)
		case asField.has(e.name):
			s.report(e.at, "%q does not belong in %s, since %s: remove it", e.name, s.what, s.why)
		default:
			s.unknownKey(e, s.what, s.keys, nil)
		}
	}
	f := &s.out.field
	f.Doc = s.prose(s.m["doc"], "the doc of "+s.what)
	f.Unit = s.line(s.m["unit"], "the unit of "+s.what)
	f.Legacy = s.line(s.m["legacy"], "the legacy key of "+s.what)
	s.readWas()
	kind, kinded := s.word(s.m["kind"], "kind", s.what, words(s.kinds...))
	if f.Legacy == schema.LegacyFile && kind != string(schema.Map) {
		s.report(at(s.m["legacy"]), `%s is no map, so that it cannot be the legacy file itself, as "legacy: ." says: name its key in that file`, s.what)
	}
	if kinded {
		f.Kind = schema.Kind(kind)
	}
	if kind == string(schema.Map) {
		s.readMap()
	} else {
		s.readType(kinded)
	}
	s.readDependencies(s.m["depends_on"])
	if name, ok := s.text(s.m["go"], "the Go name of "+s.what); ok && s.checkGo(at(s.m["go"]), name, s.what) {
		f.Go, s.out.goAt = name, at(s.m["go"])
	}
}

// readType reads the type of what is no map, and what belongs to the type.
func (s *spec) readType(kinded bool) {
	implied := impliedTypes[s.out.field.Kind]
	if s.m["type"] == nil && implied == "" && (s.value.Kind == yaml.MappingNode || isNull(s.value)) {
		s.report(s.at, `%s has no type: add "type:", one of %s`, s.what, list(words(schema.Types()...), "and"))
	}
	for _, key := range mapKeys {
		if n := s.m[key]; n != nil {
			s.report(at(n), "%s has %q and is no map: remove it, or use kind map", s.what, key)
		}
	}
	if n := s.m["type"]; n != nil && s.has("kind") && slices.Contains(words(schema.Kinds()...), n.Value) {
		s.report(at(n), "%s: %s is a kind and no type: write \"kind: %[2]s\"", s.what, n.Value)
		return
	}
	f := &s.out.field
	if f.Type = implied; s.m["type"] != nil || implied == "" {
		typ, typed := s.word(s.m["type"], "type", s.what, words(schema.Types()...))
		if !typed {
			return
		}
		f.Type = schema.Type(typ)
	}
	if kinded {
		s.checkKind(at(s.m["kind"]), s.what, *f)
	}
	s.checkUnit(s.m["unit"], s.what, f.Type)
	s.readValues(&s.out, s.at, s.what, s.m["values"])
	s.readElement()
	s.readMembers()
}

// readElement reads what a list is of.
func (s *spec) readElement() {
	n, isList := s.m["of"], s.out.field.Type == schema.TypeList
	switch {
	case n == nil && isList:
		s.report(s.at, `%s does not say what it is a list of: add "of: {type: …}"`, s.what)
	case n == nil:
	case !isList:
		s.report(at(n), `%s has "of" and is of type %s: remove it, or use type list`, s.what, s.out.field.Type)
	default:
		element := s.part(n, "an element of "+s.what, asElement)
		if element.field.Type == schema.TypeList {
			s.report(at(n), "%s is a list of lists: put the inner list into a record", s.what)
		}
		s.out.element, s.out.field.Of = &element, &element.field
	}
}

// part reads a part of the value that has no name of its own.
func (s *spec) part(n *yaml.Node, what string, r role) fieldEntry {
	return s.readSpec(entry{"", at(n), n}, what, r, s.nest+1)
}

// readMembers reads the members of a record.
func (s *spec) readMembers() {
	n, isRecord := s.m["fields"], s.out.field.Type == schema.TypeRecord
	switch {
	case n == nil && isRecord:
		s.report(s.at, `%s is a record without members: add "fields: {NAME: {type: …}}"`, s.what)
	case n == nil:
	case !isRecord:
		s.report(at(n), `%s has "fields" and is of type %s: remove them, or use type record`, s.what, s.out.field.Type)
	default:
		s.out.field.Fields = s.memberSpecs(n, asMember)
	}
}

// memberSpecs reads the members of a record, or of what a map has at a key.
func (s *spec) memberSpecs(n *yaml.Node, r role) map[string]schema.Field {
	entries := s.entries(n, "the members of "+s.what, "NAME: {type: …}")
	if len(entries) == 0 && (isNull(n) || n.Kind == yaml.MappingNode && len(n.Content) == 0) {
		s.report(at(n), "%s has no members: declare at least one", s.what)
	}
	if len(entries) > schema.MaxFields {
		s.report(s.at, "%s has %d members and may have %d: make a map of them", s.what, len(entries), schema.MaxFields)
		return nil
	}
	specs, legacy := map[string]schema.Field{}, map[string]fieldEntry{}
	for _, e := range entries {
		named := s.checkName(e.at, "member", e.name)
		member := s.readSpec(e, "member "+plain(e.name)+" of "+s.what, r, s.nest+1)
		if r.has("kind") && member.field.Kind == "" {
			member.field.Kind = schema.Value
		}
		if key := member.field.Legacy; key != "" {
			if first, taken := legacy[key]; taken {
				s.report(e.at, "member %s of %s takes the legacy key %s, and so does member %s at %s: a key goes to one member; remove it from one of the two",
					plain(e.name), s.what, quote(key), plain(first.name), s.cite(first.at))
			} else {
				legacy[key] = member
			}
		}
		if named {
			s.out.members = append(s.out.members, member)
			specs[e.name] = member.field
		}
	}
	return specs
}

func without(keys []string, unwanted ...string) []string {
	return slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return slices.Contains(unwanted, key) })
}

func (r role) has(key string) bool { return slices.Contains(r.keys, key) }

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
