package declare

import (
	"reflect"
	"slices"

	"github.com/freehold-dev/freehold/schema"
	"github.com/invopop/jsonschema"
)

// OwnersSchemaURL is where the schema of owners.yaml is published, and the
// schema's id.
const OwnersSchemaURL = "https://raw.githubusercontent.com/freehold-dev/freehold/main/schema/owners.schema.json"

// OwnersSchema returns the JSON Schema, draft 2020-12, of owners.yaml, by
// which editors complete and check it. It says what can be said of one value
// or of one owner at a time; [Parse] also compares them.
func OwnersSchema() ([]byte, error) {
	reflector := jsonschema.Reflector{
		ExpandedStruct: true,
		Mapper:         func(t reflect.Type) *jsonschema.Schema { return wordSchemas()[t] },
		LookupComment:  func(t reflect.Type, field string) string { return comments[t.Name()+"."+field] },
	}
	s := reflector.Reflect(schema.Declaration{})
	s.ID = OwnersSchemaURL
	s.Title = "owners.yaml: who owns what in one state"
	refineFile(s)
	refine(s.Definitions["Instances"], "by", "", setPattern(schema.NameRule))
	refineOwner(s.Definitions["Owner"])
	refineField(s.Definitions["Field"])
	addParts(s.Definitions)
	refine(s.Definitions["Busy"], "wait", "", func(p *jsonschema.Schema) {
		p.Pattern = `^\+?(0|((\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h))+)$`
		p.Default = schema.DefaultWait.String()
	})
	refine(s.Definitions["Busy"], "then", schema.Fail, nil)
	return marshal(s)
}

// wordSchemas are the schemas of the types whose values are words.
func wordSchemas() map[reflect.Type]*jsonschema.Schema {
	return map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[schema.Mode]():       oneOf(schema.Shared, schema.Exclusive),
		reflect.TypeFor[schema.Durability](): oneOf(schema.Power, schema.Process),
		reflect.TypeFor[schema.Then]():       oneOf(schema.Fail, schema.Defer),
		reflect.TypeFor[schema.Kind]():       oneOf(schema.Kinds()...),
		reflect.TypeFor[schema.Type]():       oneOf(schema.Types()...),
	}
}

// comments are the descriptions by Go type and field. The Go comments speak to
// those who call the library; these speak to those who write owners.yaml.
var comments = map[string]string{
	"Declaration.":        "Which owners a state has, and which fields each of them owns. Every field has exactly one owner.",
	"Declaration.State":   "The name of the state: a directory that holds the files of these owners.",
	"Declaration.Package": "The name of the generated Go package that reads the state. Default: the state's name.",
	"Declaration.Owners":  "The owners by name. An owner is a role that programs play; they write NAME.json and nothing else.",

	"Instances.":   "Declares one state for each session, project or the like: a directory per id in the state's directory.",
	"Instances.By": "The name of the id of an instance: session_id. A program gives the id itself when it opens the state.",

	"Owner.":           "One declared role and the fields that only it may write.",
	"Owner.Doc":        "The programs that play the role.",
	"Owner.Mode":       "How many processes may play the role: shared, they take turns; exclusive, one at a time.",
	"Owner.Durability": "The failure that an acknowledged commit survives: power, power loss; process, the death of any process.",
	"Owner.Home":       "The folder, relative to the module root, below which Go packages may write these fields. Default: the folder of owners.yaml and the owner's name.",
	"Owner.Fields":     "The fields by name. A name is unique among all owners of the state.",

	"Busy.":     "The behaviour of a commit while another process holds the owner's lock.",
	"Busy.Wait": "How long the commit waits for the lock, as Go writes durations: 250ms, 2s.",
	"Busy.Then": "The outcome after that: fail, an error, and nothing changed; defer, the commit becomes a pending patch, which a later commit folds. To defer, the owner must be shared, and all its fields must be of kind max, min, counter or set, or maps of those.",

	"Field.":          "One value with one owner, or a map, of which several owners may each have members.",
	"Field.Type":      "The type of the value, or of a set's elements. A once field and an event are of type time, which need not be said. int and uint have 64 bits, decimal is exact, time is an instant, json is anything.",
	"Field.Kind":      "How writes combine: value, the latest; max and min, never back; counter, the exact sum; once, the first claim, for good; event, begun and done, the time of the last; set, by element; map, by key.",
	"Field.Of":        "The elements of the list.",
	"Field.Fields":    "The members of the record by name. The record is written whole.",
	"Field.Record":    "The members that this owner keeps at each key of the map, by name, each with its kind.",
	"Field.Value":     "The value at each key of the map, if that is no record.",
	"Field.Keys":      "Whether this owner decides which keys the map has. Of several owners of a map, exactly one does; a sole owner does unasked, and a map with a value has one owner and no keys here.",
	"Field.DependsOn": "The fields of other owners that the value is computed from. A writer gives the versions of them that it had seen, and readers learn whether newer ones exist.",
	"Field.Doc":       "The meaning of the value. It becomes the comment of the generated accessors.",
	"Field.Unit":      "The unit of a number: tokens, US dollars.",
	"Field.Values":    "The values of an enum.",
	"Field.Go":        "The name in generated code. Default: the field's name by Go's rules, TotalUSD for total_usd.",
	"Field.Was":       "The name that the field had before. `freehold state upgrade` then renames it, with all that is stored in it.",
	"Field.Legacy":    "The field's key in the file that Freehold replaces; of a map, \".\" if it is that file itself.",
}

// refine changes the property name of s; otherwise, if not empty, is what
// stands for it when it is left out.
func refine[T ~string](s *jsonschema.Schema, name string, otherwise T, change func(*jsonschema.Schema)) {
	p, _ := s.Properties.Get(name)
	if otherwise != "" {
		p.Default = otherwise
	}
	if change != nil {
		change(p)
	}
}

func setPattern(rule string) func(*jsonschema.Schema) {
	return func(p *jsonschema.Schema) { p.Pattern = rule }
}

// named makes p a mapping from names to at least one thing.
func named(p *jsonschema.Schema) {
	least := uint64(1)
	p.PropertyNames, p.MinProperties = pattern(schema.NameRule), &least
}

func refineFile(s *jsonschema.Schema) {
	refine(s, "state", "", setPattern(schema.NameRule))
	refine(s, "package", "", setPattern(schema.NameRule))
	refine(s, "owners", "", named)
	// The property is a reference, and a reference has no comment of its own.
	refine(s, "instances", "", func(p *jsonschema.Schema) { p.Description = comments["Instances."] })
}

func refineOwner(s *jsonschema.Schema) {
	refine(s, "mode", schema.Shared, nil)
	refine(s, "durability", schema.Power, nil)
	refine(s, "home", "", setPattern(`^[A-Za-z0-9._+~-]*[A-Za-z0-9_+~-](/[A-Za-z0-9._+~-]*[A-Za-z0-9_+~-])*$`))
	refine(s, "doc", "", atMost(maxDoc))
	refine(s, "fields", "", named)
	// The property is a reference, and a reference has no comment of its own.
	refine(s, "busy", "", func(p *jsonschema.Schema) { p.Description = comments["Busy."] })
}

func refineField(s *jsonschema.Schema) {
	refine(s, "kind", schema.Value, nil)
	refine(s, "doc", "", atMost(maxDoc))
	refine(s, "unit", "", atMost(maxLine))
	refine(s, "legacy", "", atMost(maxLine))
	refine(s, "was", "", setPattern(schema.NameRule))
	refine(s, "go", "", setPattern(`^[A-Z][A-Za-z0-9_]{0,99}$`))
	refine(s, "values", "", func(p *jsonschema.Schema) {
		least, most := uint64(1), uint64(maxValues)
		p.Items, p.MinItems, p.MaxItems, p.UniqueItems = pattern(valueRule), &least, &most, true
	})
	refine(s, "depends_on", "", func(p *jsonschema.Schema) {
		least, most := uint64(1), uint64(maxDependencies)
		p.Items, p.MinItems, p.MaxItems, p.UniqueItems = pattern(schema.NameRule), &least, &most, true
	})
	refine(s, "of", "", refer("Element"))
	refine(s, "fields", "", namedParts("Member"))
	refine(s, "record", "", namedParts("Column"))
	refine(s, "value", "", refer("Value"))
	s.AllOf = append(s.AllOf, mapRule(), listRule(), recordRule(), dependencyRule())
	addRules(s, schema.Kinds())
}

// addParts defines what a part of a field may say: less than a field.
func addParts(definitions jsonschema.Definitions) {
	field := definitions["Field"]
	for name, r := range map[string]role{"Element": asElement, "Member": asMember, "Column": asColumn, "Value": asValue} {
		part := closed(object(partDocs[name]))
		for pair := field.Properties.Oldest(); pair != nil; pair = pair.Next() {
			if !slices.Contains(r.keys, pair.Key) {
				continue
			}
			part.Properties.Set(pair.Key, pair.Value)
			if pair.Key == "kind" {
				kind := described(pair.Value.Description, oneOf(r.kinds...))
				kind.Default = schema.Value
				part.Properties.Set("kind", kind)
			}
		}
		part.Required = []string{"type"}
		part.AllOf = append(part.AllOf, listRule(), recordRule())
		addRules(part, r.kinds)
		definitions[name] = part
	}
}

var partDocs = map[string]string{
	"Element": "An element of a list.",
	"Member":  "A member of a record.",
	"Column":  "A member of the record at a key of a map.",
	"Value":   "The value at a key of a map.",
}

func refer(definition string) func(*jsonschema.Schema) {
	return func(p *jsonschema.Schema) {
		p.Ref = "#/$defs/" + definition
		p.Description = partDocs[definition]
	}
}

func namedParts(definition string) func(*jsonschema.Schema) {
	return func(p *jsonschema.Schema) {
		named(p)
		p.AdditionalProperties = &jsonschema.Schema{Ref: "#/$defs/" + definition}
	}
}

// addRules adds what follows from the type and the kind.
func addRules(s *jsonschema.Schema, kinds []schema.Kind) {
	s.AllOf = append(s.AllOf, enumRule(), unitRule())
	for _, kind := range kinds {
		if rule := kindRule(kind); rule != nil {
			s.AllOf = append(s.AllOf, rule)
		}
	}
}

func atMost(most uint64) func(*jsonschema.Schema) {
	return func(p *jsonschema.Schema) {
		least := uint64(1)
		p.MinLength, p.MaxLength = &least, &most
	}
}

// mapRule: a map says what it has at a key and has no type; everything else
// has a type, which some kinds imply.
func mapRule() *jsonschema.Schema {
	not := func(names ...string) *jsonschema.Schema {
		s := given()
		for _, name := range names {
			s.Properties.Set(name, jsonschema.FalseSchema)
		}
		return s
	}
	var hasOne []*jsonschema.Schema
	for _, name := range mapKeys {
		hasOne = append(hasOne, &jsonschema.Schema{Required: []string{name}})
	}
	isMap := not("type", "values", "of", "fields", "unit")
	isMap.AnyOf = hasOne
	isMap.Not = &jsonschema.Schema{Required: []string{"record", "value"}}
	other := not(mapKeys...)
	other.If = given(property{"kind", oneOf(schema.Event, schema.Once), true})
	other.Then = not("unit")
	other.Else = &jsonschema.Schema{Required: []string{"type"}}
	return &jsonschema.Schema{If: given(property{"kind", oneOf(schema.Map), true}), Then: isMap, Else: other}
}

// listRule: a list says what it is of, and nothing else does.
func listRule() *jsonschema.Schema { return typeRule(schema.TypeList, "of") }

// recordRule: a record has members, and nothing else has.
func recordRule() *jsonschema.Schema { return typeRule(schema.TypeRecord, "fields") }

// enumRule: an enum has values, and nothing else has.
func enumRule() *jsonschema.Schema { return typeRule(schema.TypeEnum, "values") }

// typeRule: what is of the type has the key, and nothing else has.
func typeRule(typ schema.Type, key string) *jsonschema.Schema {
	return &jsonschema.Schema{
		If:   given(property{"type", oneOf(typ), true}),
		Then: &jsonschema.Schema{Required: []string{key}},
		Else: given(property{key, jsonschema.FalseSchema, false}),
	}
}

// dependencyRule: what depends on others is written as a whole.
func dependencyRule() *jsonschema.Schema {
	return &jsonschema.Schema{
		If:   &jsonschema.Schema{Required: []string{"depends_on"}},
		Then: given(property{"kind", oneOf(schema.DependentKinds()...), false}),
	}
}

// unitRule: only a number has a unit.
func unitRule() *jsonschema.Schema {
	return &jsonschema.Schema{
		If:   &jsonschema.Schema{Required: []string{"unit"}},
		Then: given(property{"type", oneOf(numbers...), false}),
	}
}

// kindRule says which types go with the kind, or is nil if all do, or none.
func kindRule(kind schema.Kind) *jsonschema.Schema {
	good := slices.DeleteFunc(schema.Types(), func(t schema.Type) bool { return !kind.Allows(t) })
	if len(good) == len(schema.Types()) || len(good) == 0 {
		return nil
	}
	return &jsonschema.Schema{
		If:   given(property{"kind", oneOf(kind), true}),
		Then: given(property{"type", oneOf(good...), false}),
	}
}

// given is a condition on the properties of what is an object anyway.
func given(properties ...property) *jsonschema.Schema {
	s := object("", properties...)
	s.Type = ""
	return s
}
