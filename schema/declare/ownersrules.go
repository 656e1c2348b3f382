package declare

import (
	"maps"
	"slices"

	"github.com/freehold-dev/freehold/schema"
	"github.com/invopop/jsonschema"
)

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
	other.If = given(property{"kind", oneOf(slices.Sorted(maps.Keys(impliedTypes))...), true})
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
	good := allowed(kind)
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
