package declare

import (
	"fmt"
	"slices"

	"github.com/freehold-dev/freehold/schema"
	"github.com/invopop/jsonschema"
	orderedmap "github.com/pb33f/ordered-map/v2"
)

// The patterns of text that a patch may have for a value. A patch may spell a value in
// more ways than a sidecar does.
const (
	anyTime     = `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$`
	anyDuration = `^[+-]?(0|((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))+)$`
	anyDecimal  = `^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$`
	version     = `^(\d+\.\d+\.[0-9a-v]+)?$`
)

// PatchSchema returns the JSON Schema, draft 2020-12, of a patch of one of d's owners:
// an array of operations, as the command apply takes it. Each operation is closed, and
// names a field of the owner and a verb for its kind. Every patch that apply accepts
// is valid; a valid one may fail for the values that are stored, and for numbers that
// JSON Schema does not tell apart, 1 and 1.0. It returns an error if d has no such owner
// or a type that this release does not know.
func PatchSchema(d *schema.Declaration, owner string) ([]byte, error) {
	o, ok := d.Owners[owner]
	if !ok {
		return nil, unknownOwner(d, owner)
	}
	var operations []*jsonschema.Schema
	var fields []any
	for _, name := range o.FieldNames() {
		all, err := fieldOperations(d, owner, name)
		if err != nil {
			return nil, fmt.Errorf("field %s: %w", name, err)
		}
		if len(all) > 0 {
			fields = append(fields, name)
		}
		operations = append(operations, all...)
	}
	most := uint64(schema.MaxElements)
	s := &jsonschema.Schema{Type: "array", MaxItems: &most, Items: jsonschema.FalseSchema,
		Title:       fmt.Sprintf("A patch of owner %s of state %s", owner, d.State),
		Description: "Operations, applied in order and in one commit.",
		Extras:      map[string]any{"x-freehold-owner": owner}}
	if len(operations) > 0 {
		s.Definitions = shared()
		s.Items = &jsonschema.Schema{Type: "object", Required: []string{"field", "op"}, AnyOf: operations, Properties: orderedmap.New[string, *jsonschema.Schema]()}
		s.Items.Properties.Set("field", &jsonschema.Schema{Enum: fields})
	}
	return marshal(s)
}

func unknownOwner(d *schema.Declaration, owner string) error {
	return fmt.Errorf("state %s has no owner %s: %s", d.State, owner, schema.DidYouMean(owner, "its owners are", d.OwnerNames()))
}

// fieldOperations returns the schemas of the operations on one field.
func fieldOperations(d *schema.Declaration, owner, name string) (all []*jsonschema.Schema, err error) {
	f := d.Owners[owner].Fields[name]
	if f.EffectiveKind() != schema.Map {
		return valueOperations(name, f, nil)
	}
	if decider, _ := d.OwnerOf(name); decider == owner {
		o := operation(name, f, keyVerbs(f))
		o.Properties.Set("key", reference("key"))
		o.Required = append(o.Required, "key")
		o.Properties.Set("member", reference("none"))
		o.Properties.Set("at", reference("incarnation"))
		all = append(all, o)
	}
	members := f.MemberNames()
	if f.Value != nil {
		members = []string{""}
	}
	for _, member := range members {
		part, _ := f.Member(member)
		more, err := valueOperations(name, part, func(o *jsonschema.Schema) {
			o.Properties.Set("key", reference("key"))
			o.Required = append(o.Required, "key")
			o.Properties.Set("at", reference("incarnation"))
			if member == "" {
				o.Properties.Set("member", reference("none"))
				return
			}
			o.Properties.Set("member", &jsonschema.Schema{Const: member})
			o.Required = append(o.Required, "member")
		})
		if err != nil {
			return nil, fmt.Errorf("member %s: %w", member, err)
		}
		all = append(all, more...)
	}
	return all, nil
}

// valueOperations returns the operations that give a value, and the one that clears.
// part completes those on a part of a map.
func valueOperations(name string, f schema.Field, part func(*jsonschema.Schema)) (all []*jsonschema.Schema, err error) {
	var giving, clearing []schema.Verb
	for _, verb := range f.Verbs() {
		switch {
		case f.CheckVerb(verb) != nil: // no operation of a patch
		case verb == schema.VerbClear:
			clearing = append(clearing, verb)
		default:
			giving = append(giving, verb)
		}
	}
	for _, verbs := range [][]schema.Verb{giving, clearing} {
		if len(verbs) == 0 {
			continue
		}
		o := operation(name, f, verbs)
		if part == nil {
			for _, absent := range []string{"key", "member", "at"} {
				o.Properties.Set(absent, reference("none"))
			}
		} else {
			part(o)
		}
		if verbs[0] != schema.VerbClear {
			value, err := patchValue(f)
			if err != nil {
				return nil, err
			}
			value.Description = description(f)
			o.Properties.Set("value", value)
			o.Required = append(o.Required, "value")
		}
		if f.Dependent() && verbs[0] != schema.VerbClear {
			o.Properties.Set("seen", &jsonschema.Schema{Description: "The token of an observation."})
		}
		all = append(all, o)
	}
	return all, nil
}

// operation returns the closed schema of an operation with one of the verbs.
func operation(name string, f schema.Field, verbs []schema.Verb) *jsonschema.Schema {
	o := object("")
	o.Extras = map[string]any{"x-freehold-kind": f.EffectiveKind()}
	if f.Dependent() {
		o.Extras["x-freehold-depends-on"] = f.DependsOn
	}
	o.Properties.Set("field", &jsonschema.Schema{Const: name})
	op := &jsonschema.Schema{}
	for _, verb := range verbs {
		op.Enum = append(op.Enum, verb)
	}
	o.Properties.Set("op", op)
	o.Properties.Set("seen", reference("none"))
	o.Required = []string{"field", "op"}
	return o
}

// keyVerbs returns the verbs for a whole key of a map.
func keyVerbs(f schema.Field) []schema.Verb {
	return slices.DeleteFunc(f.Verbs(), func(v schema.Verb) bool { return v == schema.VerbPut })
}

// shared has the schemas that many operations refer to.
func shared() jsonschema.Definitions {
	return jsonschema.Definitions{
		"none": {Enum: []any{"", nil}, Description: "A member that has no meaning here, and may be empty."},
		"key":  keySchema(),
		"incarnation": {AnyOf: []*jsonschema.Schema{pattern(version), {Type: "null"}},
			Description: "The version of the commit that created the key. If empty, the key as it is."},
	}
}

func reference(name string) *jsonschema.Schema { return &jsonschema.Schema{Ref: "#/$defs/" + name} }

// patchValue returns the schema of a value as a patch may spell it. A record may have
// members of a later build.
func patchValue(f schema.Field) (*jsonschema.Schema, error) {
	if f.EffectiveKind() == schema.Set {
		of, _ := f.Element()
		return patchValue(of)
	}
	switch f.Type {
	case schema.TypeFloat:
		return &jsonschema.Schema{Type: "number"}, nil
	case schema.TypeDecimal:
		return pattern(anyDecimal), nil
	case schema.TypeTime:
		return pattern(anyTime), nil
	case schema.TypeDuration:
		return pattern(anyDuration), nil
	case schema.TypeRecord:
		record := object("")
		record.AdditionalProperties = nil
		for _, name := range (schema.Field{Fields: f.Fields}).MemberNames() {
			member, err := patchValue(f.Fields[name])
			if err != nil {
				return nil, fmt.Errorf("member %s: %w", name, err)
			}
			record.Properties.Set(name, member)
		}
		return record, nil
	case schema.TypeList:
		of, ok := f.Element()
		if !ok {
			return valueSchema(f) // the error
		}
		items, err := patchValue(of)
		if err != nil {
			return nil, fmt.Errorf("an element: %w", err)
		}
		most := uint64(schema.MaxElements)
		return &jsonschema.Schema{Type: "array", Items: items, MaxItems: &most}, nil
	}
	return valueSchema(f)
}
