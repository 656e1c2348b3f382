package declare

import (
	"path"
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/schema"
	"github.com/go-json-experiment/json/jsontext"
)

// check reports the mistakes of the declaration: by the rules of every
// declaration, and by those of a file that people write and package gen reads.
func (f *fileReader) check() *schema.Declaration {
	d := f.filled()
	if len(f.names["/owners"]) <= schema.MaxOwners {
		f.checkState(d)
		f.checkOwners()
		f.checkMaps()
		f.checkFormerNames()
	}
	for _, p := range d.Problems(f.names["/owners"]) {
		f.take(p)
	}
	f.checkHomes(d)
	f.checkIdentifiers(d)
	return d
}

// filled returns the declaration with every default filled in.
func (f *fileReader) filled() *schema.Declaration {
	d := f.said
	if d.Package == "" {
		d.Package = d.State
	}
	d.Owners = map[string]schema.Owner{}
	for name, o := range f.said.Owners {
		o.Mode, o.Durability = o.EffectiveMode(), o.EffectiveDurability()
		if o.Busy.Wait == "" {
			o.Busy.Wait = schema.DefaultWait.String()
		}
		if o.Busy.Then == "" {
			o.Busy.Then = schema.Fail
		}
		if o.Home == "" {
			o.Home = path.Join(f.folder, name)
		}
		fields := map[string]schema.Field{}
		for field, spec := range o.Fields {
			fields[field] = f.filledField(field, spec)
		}
		o.Fields = fields
		d.Owners[name] = o
	}
	return &d
}

// filledField returns the field with its kinds and the type that a kind implies.
// Of a map with several owners, the names of the owner of its keys count.
func (f *fileReader) filledField(name string, spec schema.Field) schema.Field {
	spec.Kind = spec.EffectiveKind()
	if spec.Type == "" && spec.Kind.OnWriter() {
		spec.Type = schema.TypeTime
	}
	if spec.Kind != schema.Map {
		return spec
	}
	if owners := f.ownersOf(name); len(owners) == 1 {
		spec.Keys = true
	} else {
		decider := f.said.Owners[owners[0]].Fields[name]
		spec.Go, spec.Was = decider.Go, decider.Was
	}
	if spec.Value != nil {
		value := *spec.Value
		value.Kind = value.EffectiveKind()
		spec.Value = &value
	}
	record := map[string]schema.Field{}
	for member, column := range spec.Record {
		column.Kind = column.EffectiveKind()
		record[member] = column
	}
	if spec.Record != nil {
		spec.Record = record
	}
	return spec
}

// ownersOf returns the owners of a map: first the owner of its keys, then the
// others in the order of the file.
func (f *fileReader) ownersOf(name string) []string {
	owners := slices.DeleteFunc(slices.Clone(f.names["/owners"]), func(owner string) bool {
		return f.said.Owners[owner].Fields[name].Kind != schema.Map
	})
	for i, owner := range owners {
		if f.said.Owners[owner].Fields[name].Keys {
			return slices.Insert(slices.Delete(owners, i, i+1), 0, owner)
		}
	}
	return owners
}

// eachField calls each with every field, in the order of the file.
func (f *fileReader) eachField(each func(at jsontext.Pointer, owner, name string, spec schema.Field)) {
	for _, owner := range f.names["/owners"] {
		for _, name := range f.names[schema.PointerTo(owner, "")+"/fields"] {
			each(schema.PointerTo(owner, name), owner, name, f.said.Owners[owner].Fields[name])
		}
	}
}

// checkState reports bad names of the state and its package.
func (f *fileReader) checkState(d *schema.Declaration) {
	if d.State == "" && !f.doubtful["/state"] {
		f.report("/state", `the state has no name: add "state: NAME"`)
		f.doubtful["/state"] = true
	}
	why := badPackage(d.Package)
	switch {
	case f.said.Package == "" && !f.has("/package") && why != "":
		f.report("/state", `the package of state %s would have its name, which %s: add "package: %s"`, d.State, why, otherPackage(d.State))
	case f.said.Package != "" && !schema.ValidName(f.said.Package):
		f.report("/package", "the package name %.40q %s", d.Package, schema.BadName(d.Package))
	case f.said.Package != "" && why != "":
		f.report("/package", "the package name %s %s: choose another", d.Package, why)
	}
	if schema.ValidName(d.State) && strings.HasSuffix(TestPackage(d.State), "_test") {
		f.report("/state", "the state %s ends with an underscore, and Go would take %s.go for a test: choose another name", d.State, TestPackage(d.State))
	}
}

// checkOwners reports owners without fields, reserved names, and fields that
// are wrong by themselves.
func (f *fileReader) checkOwners() {
	const owners = jsontext.Pointer("/owners")
	switch {
	case f.said.Owners == nil, !f.has(owners):
		f.report(owners, `the file declares no owners: add "owners:" with at least one`)
	case len(f.names[owners]) == 0 && f.isEmpty(owners):
		f.report(owners, "owners is empty: declare at least one owner with a field")
	}
	for _, owner := range f.names[owners] {
		at := schema.PointerTo(owner, "")
		if why := reservedOwner(owner, f.said.State); why != "" {
			f.report(at, "the owner name %s is reserved, since %s: choose another", owner, why)
		}
		switch fields := at + "/fields"; {
		case !f.has(fields):
			f.report(fields, `%s has no fields: add "fields:" with at least one, or remove the owner`, schema.PartName(at))
		case len(f.names[fields]) == 0 && f.isEmpty(fields):
			f.report(fields, "%s has no fields: declare at least one, or remove the owner", schema.PartName(at))
		}
	}
	legacy := map[string]jsontext.Pointer{}
	f.eachField(func(at jsontext.Pointer, _, name string, spec schema.Field) {
		f.checkPart(at, spec, 0)
		if first, taken := legacy[spec.Legacy]; taken && first.LastToken() != name {
			f.report(at, "%s takes the legacy key %.40q, and so does %s at %s: a key goes to one field; remove it from one of the two",
				schema.PartName(at), spec.Legacy, schema.PartName(first), first)
		} else if spec.Legacy != "" {
			legacy[spec.Legacy] = at
		}
	})
}

// numbers are the types with a unit.
var numbers = []schema.Type{schema.TypeInt, schema.TypeUint, schema.TypeFloat, schema.TypeDecimal}

// checkPart reports the mistakes in the description of a value.
func (f *fileReader) checkPart(at jsontext.Pointer, spec schema.Field, nest int) {
	part, typ := schema.PartName(at), spec.Type
	if nest > schema.MaxNest {
		return
	}
	if spec.Legacy == schema.LegacyFile && spec.Kind != schema.Map {
		f.report(at+"/legacy", `%s is no map, so that it cannot be the legacy file itself, as "legacy: ." says: name its key in that file`, part)
	}
	if spec.Kind != schema.Map && typ == "" && spec.Kind.OnWriter() {
		typ = schema.TypeTime
	}
	if spec.Kind != schema.Map && slices.Contains(schema.Types(), typ) {
		if spec.Unit != "" && !slices.Contains(numbers, typ) {
			f.report(at+"/unit", "%s has a unit and is no number: remove it, or say it in the doc", part)
		}
		f.checkType(at, spec, typ)
	}
	if spec.Of != nil {
		if spec.Of.Type == schema.TypeList {
			f.report(at+"/of", "%s is a list of lists: put the inner list into a record", part)
		}
		f.checkPart(at+"/of", *spec.Of, nest+1)
	}
	if spec.Value != nil {
		f.checkPart(at+"/value", *spec.Value, nest+1)
	}
	f.checkMembers(at+"/fields", spec.Fields, nest)
	f.checkMembers(at+"/record", spec.Record, nest)
}

// checkType reports values and members that are missing or too many.
func (f *fileReader) checkType(at jsontext.Pointer, spec schema.Field, typ schema.Type) {
	part, values := schema.PartName(at), at+"/values"
	switch said := f.has(values); {
	case typ != schema.TypeEnum && said:
		f.report(values, "%s has values and is of type %s: remove them, or use type enum", part, typ)
	case typ == schema.TypeEnum && !said:
		f.report(values, `%s is an enum without values: add "values: […]"`, part)
	case typ == schema.TypeEnum && len(spec.Values) == 0:
		f.report(values, "%s is an enum without values: list at least one", part)
	}
	if typ != schema.TypeRecord {
		return
	}
	if !f.has(at + "/fields") {
		f.report(at+"/fields", `%s is a record without members: add "fields: {NAME: {type: …}}"`, part)
	} else if f.isEmpty(at + "/fields") {
		f.report(at+"/fields", "%s has no members: declare at least one", part)
	}
}

// checkMembers reports the mistakes in the members of a record.
func (f *fileReader) checkMembers(at jsontext.Pointer, members map[string]schema.Field, nest int) {
	legacy := map[string]string{}
	for _, name := range f.names[at] {
		member := members[name]
		f.checkPart(at.AppendToken(name), member, nest+1)
		if first, taken := legacy[member.Legacy]; taken {
			f.report(at.AppendToken(name), "%s takes the legacy key %.40q, and so does member %s at %s: a key goes to one member; remove it from one of the two",
				schema.PartName(at.AppendToken(name)), member.Legacy, first, at.AppendToken(first))
		} else if member.Legacy != "" {
			legacy[member.Legacy] = name
		}
	}
}

// checkMaps reports maps without anything at their keys, and names on which
// the owners of a map do not agree.
func (f *fileReader) checkMaps() {
	f.eachField(func(at jsontext.Pointer, owner, name string, spec schema.Field) {
		if spec.Kind != schema.Map {
			return
		}
		owners := f.ownersOf(name)
		nothing := !f.has(at+"/record") && !f.has(at+"/value")
		switch {
		case nothing && !spec.Keys:
			f.report(at, `%s is a map and declares nothing at a key: add "record: {NAME: {type: …}}" or "value: {type: …}"`, schema.PartName(at))
		case f.isEmpty(at + "/record"):
			f.report(at+"/record", "%s has no members: declare at least one", schema.PartName(at))
		case nothing && len(owners) == 1:
			f.report(at, "map %s has nothing at its keys: use kind set and type string", name)
		case spec.Value != nil && spec.Record == nil && f.has(at+"/keys"):
			f.report(at+"/keys", `%s is a map of plain values, and its one owner decides the keys: remove "keys"`, schema.PartName(at))
		case len(owners) == 1 && f.has(at+"/keys") && !spec.Keys:
			f.report(at+"/keys", `map %s has one owner, which decides its keys: remove "keys: false"`, name)
		}
		first := schema.PointerTo(owners[0], name)
		decider := f.said.Owners[owners[0]].Fields[name]
		if spec.Go != "" && spec.Go != decider.Go {
			f.report(at+"/go", `map %s has another Go name for the owner of its keys, at %s: say it there`, name, first)
		}
		if spec.Was != "" && spec.Was != decider.Was {
			f.report(at+"/was", `map %s had another name before for the owner of its keys, at %s: say it there`, name, first)
		}
		if spec.Legacy != "" && spec.Legacy != decider.Legacy {
			f.report(at, `map %s has another legacy key for the owner of its keys, at %s: say it there`, name, first)
		}
	})
}

// A former is a field or a member that had another name before, or none.
type former struct {
	at  jsontext.Pointer
	was string
}

// checkFormerNames reports former names that do not tell which value goes
// where: one that is still in use, and one that two parts claim.
func (f *fileReader) checkFormerNames() {
	var fields []former
	members := map[string][]former{} // of maps, by field
	f.eachField(func(at jsontext.Pointer, owner, name string, spec schema.Field) {
		was := spec.Was
		if owners := f.ownersOf(name); spec.Kind == schema.Map && owners[0] != owner {
			was = f.said.Owners[owners[0]].Fields[name].Was
		}
		fields = append(fields, former{at, was})
		members[name] = append(members[name], formerMembers(at+"/record", f.names[at+"/record"], spec.Record)...)
		f.checkRecords(at, spec)
	})
	f.checkFormer("field", fields)
	f.eachField(func(_ jsontext.Pointer, _, name string, _ schema.Field) {
		f.checkFormer("member", members[name])
		delete(members, name)
	})
}

// checkRecords checks the records in the description of a value.
func (f *fileReader) checkRecords(at jsontext.Pointer, spec schema.Field) {
	f.checkFormer("member", formerMembers(at+"/fields", f.names[at+"/fields"], spec.Fields))
	if spec.Of != nil {
		f.checkRecords(at+"/of", *spec.Of)
	}
	if spec.Value != nil {
		f.checkRecords(at+"/value", *spec.Value)
	}
	for name, member := range spec.Fields {
		f.checkRecords((at + "/fields").AppendToken(name), member)
	}
	for name, member := range spec.Record {
		f.checkRecords((at + "/record").AppendToken(name), member)
	}
}

func formerMembers(at jsontext.Pointer, names []string, members map[string]schema.Field) (all []former) {
	for _, name := range names {
		all = append(all, former{at.AppendToken(name), members[name].Was})
	}
	return all
}

// checkFormer checks parts with names of one namespace. Several may have
// one name: they are parts of one map.
func (f *fileReader) checkFormer(kind string, parts []former) {
	now, claimed := map[string]jsontext.Pointer{}, map[string]jsontext.Pointer{}
	for _, p := range parts {
		if _, ok := now[p.at.LastToken()]; !ok {
			now[p.at.LastToken()] = p.at
		}
	}
	for _, p := range parts {
		if p.was == "" {
			continue
		}
		name := p.at.LastToken()
		first, taken := claimed[p.was]
		if present, ok := now[p.was]; ok {
			f.report(p.at+"/was", "%s %s was called %s before, and %s is declared at %s: a %s that keeps its name cannot become another; remove one of the two",
				kind, name, p.was, p.was, present, kind)
		} else if taken && first.LastToken() != name {
			f.report(p.at+"/was", "%s %s was called %s before, and so was %s at %s: one of them is new; remove its \"was\"",
				kind, name, p.was, first.LastToken(), first+"/was")
		} else {
			claimed[p.was] = p.at
		}
	}
}
