package declare

import (
	"fmt"
	"strings"

	"github.com/freehold-dev/freehold/schema"
	"github.com/invopop/jsonschema"
)

// keyPattern is of a map's key: any text without control characters.
const keyPattern = `^[^\x00-\x1f\x7f-\x9f]+$`

// A share is what one owner declares of a field. Only a map has several.
type share struct {
	owner string
	field schema.Field
}

// shares returns what d's owners declare of the field name, the one first who
// decides the keys of a map.
func shares(d *schema.Declaration, name string) []share {
	first, _ := d.OwnerOf(name)
	all := []share{{first, d.Owners[first].Fields[name]}}
	for _, owner := range d.OwnersOf(name) {
		if owner != first {
			all = append(all, share{owner, d.Owners[owner].Fields[name]})
		}
	}
	return all
}

// fieldSchema returns the schema of a field, with what a reader wants to know
// of it, or an error if it has a type that this release does not know.
func fieldSchema(shares ...share) (*jsonschema.Schema, error) {
	first := shares[0]
	var s *jsonschema.Schema
	var err error
	if first.field.EffectiveKind() == schema.Map {
		s, err = mapSchema(shares)
	} else {
		s, err = first.schema(first.field)
	}
	if err != nil {
		return nil, err
	}
	return first.sign(s, first.field), nil
}

// schema returns the schema of a value that s's owner writes.
func (s share) schema(f schema.Field) (*jsonschema.Schema, error) {
	if f.EffectiveKind() == schema.Set {
		return arraySchema(f)
	}
	return valueSchema(f)
}

// sign says who writes the value and how.
func (s share) sign(schema *jsonschema.Schema, f schema.Field) *jsonschema.Schema {
	schema.Description = description(f)
	schema.Extras = map[string]any{"x-freehold-owner": s.owner, "x-freehold-kind": f.EffectiveKind()}
	if f.Dependent() {
		schema.Extras["x-freehold-depends-on"] = f.DependsOn
	}
	return schema
}

func description(f schema.Field) string {
	parts := []string{f.Doc}
	if f.Unit != "" {
		parts = append(parts, "Unit: "+f.Unit+".")
	}
	if f.EffectiveKind() == schema.Set { // which JSON Schema has no word for
		parts = append(parts, "Sorted.")
	}
	return strings.TrimSpace(strings.Join(parts, " "))
}

func describedSchema(f schema.Field) (*jsonschema.Schema, error) {
	s, err := valueSchema(f)
	if err == nil {
		s.Description = description(f)
	}
	return s, err
}

// mapSchema returns the schema of a map that has its owners' members at each
// key.
func mapSchema(shares []share) (*jsonschema.Schema, error) {
	entry := closed(object(""))
	for _, s := range shares {
		if value := s.field.Value; value != nil {
			var err error
			if entry, err = s.signed(*value); err != nil {
				return nil, fmt.Errorf("the value: %w", err)
			}
			continue
		}
		record, err := recordSchema(s.field.Record, s.signed)
		if err != nil {
			return nil, err
		}
		for pair := record.Properties.Oldest(); pair != nil; pair = pair.Next() {
			entry.Properties.Set(pair.Key, pair.Value)
		}
	}
	keys := pattern(keyPattern)
	longest, most := uint64(schema.MaxKey), uint64(schema.MaxKeys)
	keys.MaxLength = &longest
	return &jsonschema.Schema{Type: "object", PropertyNames: keys, AdditionalProperties: entry, MaxProperties: &most}, nil
}

func (s share) signed(f schema.Field) (*jsonschema.Schema, error) {
	value, err := valueSchema(f)
	if err != nil {
		return nil, err
	}
	return s.sign(value, f), nil
}

// recordSchema returns the schema of an object that has any of the members.
func recordSchema(members map[string]schema.Field, of func(schema.Field) (*jsonschema.Schema, error)) (*jsonschema.Schema, error) {
	record := closed(object(""))
	for _, name := range (schema.Field{Fields: members}).MemberNames() {
		member, err := of(members[name])
		if err != nil {
			return nil, fmt.Errorf("member %s: %w", name, err)
		}
		record.Properties.Set(name, member)
	}
	return record, nil
}

// arraySchema returns the schema of a list or of a set.
func arraySchema(f schema.Field) (*jsonschema.Schema, error) {
	of, ok := f.Element()
	if !ok {
		return nil, fmt.Errorf("the declaration does not say what the list is of: add `of: TYPE`")
	}
	items, err := describedSchema(of)
	if err != nil {
		return nil, fmt.Errorf("an element: %w", err)
	}
	most := uint64(schema.MaxElements)
	return &jsonschema.Schema{Type: "array", Items: items, MaxItems: &most, UniqueItems: f.EffectiveKind() == schema.Set}, nil
}
