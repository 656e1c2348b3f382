package declare

import (
	"slices"
	"strconv"

	"github.com/freehold-dev/freehold/schema"
	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"
)

// The keys of each part of the file.
var (
	fileKeys     = []string{"state", "package", "instances", "owners"}
	instanceKeys = []string{"by"}
	ownerKeys    = []string{"doc", "mode", "busy", "durability", "home", "fields"}
	busyKeys     = []string{"wait", "then"}
	valueKeys    = []string{"type", "kind", "values", "of", "fields", "doc", "unit", "go", "legacy", "was"}
	mapKeys      = []string{"record", "value", "keys"}
)

// A role is the position of the description of a value, which decides its keys.
type role struct {
	keys []string
	why  string // it has no other keys
}

var (
	asField   = role{slices.Concat(valueKeys, mapKeys, []string{"depends_on"}), ""}
	asElement = role{without(valueKeys, "kind", "legacy", "was"), "a list is written whole and has a name only as a whole"}
	asMember  = role{without(valueKeys, "kind"), "a record is written whole"}
	asColumn  = role{valueKeys, "a map has no map in it"}
	asValue   = role{without(valueKeys, "legacy", "was"), "the map is a field of its own"}
)

func without(keys []string, unwanted ...string) []string {
	return slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return slices.Contains(unwanted, key) })
}

// A fileReader turns the nodes of one file into a declaration.
type fileReader struct {
	*reporter
	folder   string
	unplaced bool // the folder is unknown
	// said is the declaration as the file says it, without defaults.
	said schema.Declaration
	// names has the names in each mapping of names, and the indices of the good
	// values of each enum, in the order of the file.
	names map[jsontext.Pointer][]string
	// children has the entries of the nodes that Place came through.
	children index
}

func (f *fileReader) read() {
	m := f.members("", f.root, "the keys state and owners", fileKeys)
	f.said = schema.Declaration{State: f.text("/state", m["state"]), Package: f.text("/package", m["package"]), Owners: map[string]schema.Owner{}}
	if n := m["instances"]; n != nil {
		f.readInstances("/instances", n)
	}
	for _, e := range f.entries("/owners", m["owners"], "NAME: {fields: …}") {
		f.said.Owners[e.name] = f.readOwner(jsontext.Pointer("/owners").AppendToken(e.name), e.value)
	}
}

func (f *fileReader) readInstances(at jsontext.Pointer, n *yaml.Node) {
	const want = "{by: session_id}"
	if isNull(n) {
		f.misread(at, n, "instances is empty: write %s, or remove it", want)
		return
	}
	m := f.members(at, n, want, instanceKeys)
	if m["by"] == nil {
		f.report(at, "instances does not name its kind: write %s", want)
	}
	f.said.Instances.By = f.text(at+"/by", m["by"])
}

func (f *fileReader) readOwner(at jsontext.Pointer, n *yaml.Node) schema.Owner {
	m := f.members(at, n, "the keys doc, mode, busy, durability, home and fields", ownerKeys)
	o := schema.Owner{
		Doc:        f.prose(at+"/doc", m["doc"]),
		Mode:       schema.Mode(f.text(at+"/mode", m["mode"])),
		Busy:       f.readBusy(at+"/busy", m["busy"]),
		Durability: schema.Durability(f.text(at+"/durability", m["durability"])),
		Home:       f.text(at+"/home", m["home"]),
		Fields:     map[string]schema.Field{},
	}
	for _, e := range f.entries(at+"/fields", m["fields"], "NAME: {type: …}") {
		o.Fields[e.name] = f.readField((at + "/fields").AppendToken(e.name), e.value, asField)
	}
	return o
}

func (f *fileReader) readBusy(at jsontext.Pointer, n *yaml.Node) schema.Busy {
	if n != nil && isNull(n) {
		f.misread(at, n, "%s is empty: give it a value or remove it", schema.PartName(at))
	}
	m := f.members(at, n, "{wait: 250ms, then: fail}", busyKeys)
	if n := m["wait"]; n != nil && n.Tag == "!!int" {
		f.misread(at+"/wait", n, "%s, %s, has no unit: write %[2]sms or %[2]ss", schema.PartName(at+"/wait"), n.Value)
		m["wait"] = nil
	}
	return schema.Busy{Wait: f.text(at+"/wait", m["wait"]), Then: schema.Then(f.text(at+"/then", m["then"]))}
}

// readField reads the description of a value.
func (f *fileReader) readField(at jsontext.Pointer, n *yaml.Node, r role) schema.Field {
	m := f.attributes(at, n, r)
	typ := schema.Type(f.text(at+"/type", m["type"]))
	kind := schema.Kind(f.text(at+"/kind", m["kind"]))
	return schema.Field{
		Type:      typ,
		Kind:      kind,
		Of:        f.readPart(at+"/of", m["of"], asElement, typ == schema.TypeList),
		Fields:    f.readMembers(at+"/fields", m["fields"], asMember, typ == schema.TypeRecord),
		Record:    f.readMembers(at+"/record", m["record"], asColumn, kind == schema.Map),
		Value:     f.readPart(at+"/value", m["value"], asValue, kind == schema.Map),
		Keys:      f.truth(at+"/keys", m["keys"]),
		DependsOn: f.readDependencies(at+"/depends_on", m["depends_on"]),
		Doc:       f.prose(at+"/doc", m["doc"]),
		Unit:      f.line(at+"/unit", m["unit"]),
		Values:    f.readValues(at+"/values", m["values"]),
		Go:        f.goName(at+"/go", m["go"]),
		Legacy:    f.line(at+"/legacy", m["legacy"]),
		Was:       f.formerName(at+"/was", m["was"]),
	}
}

// attributes returns the values of the keys in the description of a value.
func (f *fileReader) attributes(at jsontext.Pointer, n *yaml.Node, r role) map[string]*yaml.Node {
	want := "{type: …}"
	if slices.Contains(schema.Types(), schema.Type(n.Value)) {
		want = "{type: " + n.Value + "}"
	}
	m := map[string]*yaml.Node{}
	for _, e := range f.entries(at, n, want) {
		switch {
		case slices.Contains(r.keys, e.name):
			m[e.name] = e.value
		case e.name == "depends_on":
			f.reportAt(e.at, "%q does not belong in %s, since an observation is kept for a whole field: remove it", e.name, schema.PartName(at))
		case slices.Contains(asField.keys, e.name):
			f.reportAt(e.at, "%q does not belong in %s, since %s: remove it", e.name, schema.PartName(at), r.why)
		default:
			f.unknownKey(at, e, r.keys)
		}
	}
	return m
}

// readPart reads a part without a name of its own. If the part is out of place,
// it is there and says nothing.
func (f *fileReader) readPart(at jsontext.Pointer, n *yaml.Node, r role, inPlace bool) *schema.Field {
	if n == nil {
		return nil
	}
	if !inPlace {
		return &schema.Field{}
	}
	part := f.readField(at, n, r)
	return &part
}

// readMembers reads the members of a record, or of the record at a key of a map.
// If they are out of place, there is one that says nothing.
func (f *fileReader) readMembers(at jsontext.Pointer, n *yaml.Node, r role, inPlace bool) map[string]schema.Field {
	if n == nil {
		return nil
	}
	if !inPlace {
		return map[string]schema.Field{"out_of_place": {}}
	}
	members := map[string]schema.Field{}
	for _, e := range f.entries(at, n, "NAME: {type: …}") {
		members[e.name] = f.readField(at.AppendToken(e.name), e.value, r)
	}
	return members
}

// maxDependencies is the most fields that one may depend on: each is a version
// in the sidecar and in every token.
const maxDependencies = 16

func (f *fileReader) readDependencies(at jsontext.Pointer, n *yaml.Node) []string {
	switch part := schema.PartName(at.Parent()); {
	case n == nil || n.Kind == yaml.AliasNode:
		return nil
	case n.Kind != yaml.SequenceNode:
		f.misread(at, n, "%s: want a list of field names in brackets, not %s", schema.PartName(at), shape(n))
		return nil
	case len(n.Content) == 0:
		f.misread(at, n, `%s depends on nothing: remove "depends_on", or name a field of another owner`, part)
		return nil
	case len(n.Content) > maxDependencies:
		f.misread(at, n, "%s depends on %d fields and may depend on %d: name those that change last", part, len(n.Content), maxDependencies)
		return nil
	}
	var names []string
	for i, child := range n.Content {
		name := f.text(at.AppendToken(strconv.Itoa(i)), child)
		if name == "" {
			f.doubtful[at] = true
			continue
		}
		names = append(names, name)
	}
	return names
}

// maxValues is the most values that an enum may have.
const maxValues = 256

func (f *fileReader) readValues(at jsontext.Pointer, n *yaml.Node) []string {
	switch part := schema.PartName(at.Parent()); {
	case n == nil || n.Kind == yaml.AliasNode || isNull(n):
		return nil
	case n.Kind != yaml.SequenceNode:
		f.misread(at, n, "%s: want a list in brackets, not %s", schema.PartName(at), shape(n))
		return nil
	case len(n.Content) > maxValues:
		f.misread(at, n, "%s has %d values and may have %d: use type string", part, len(n.Content), maxValues)
		return nil
	}
	var values []string
	seen := map[string]jsontext.Pointer{}
	for i, child := range n.Content {
		index := strconv.Itoa(i)
		value := f.text(at.AppendToken(index), child)
		if value == "" || !f.checkValue(at.AppendToken(index), value, values, seen) {
			continue
		}
		values, f.names[at] = append(values, value), append(f.names[at], index)
	}
	if len(values) < len(n.Content) {
		f.doubtful[at] = true
	}
	return values
}
