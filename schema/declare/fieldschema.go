package declare

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/freehold-dev/freehold/schema"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/invopop/jsonschema"
	orderedmap "github.com/pb33f/ordered-map/v2"
)

// The patterns of values that are text on disk. Each type has one form there,
// and the pattern is of that form: a padding zero or an offset from UTC is the
// work of another hand.
const (
	timePattern     = `^\d{4}-\d\d-\d\dT\d\d:\d\d:[0-5]\d(\.\d{0,8}[1-9])?Z$`
	durationPattern = `^(0s|-?\d+ns|-?\d+(\.\d+)?(µs|ms|s)|-?\d+m\d+(\.\d+)?s|-?\d+h\d+m\d+(\.\d+)?s)$`
)

var decimalPattern = fmt.Sprintf(`^(0|-?([1-9]\d{0,%d}(\.\d{0,%[1]d}[1-9])?|0\.\d{0,%[1]d}[1-9]))$`, schema.MaxDecimalDigits-1)

// valueSchema returns the schema of a value of the type of f, or an error if f
// has a type that this release does not know. null is a value of json alone: a
// field that is not set is left out.
func valueSchema(f schema.Field) (*jsonschema.Schema, error) {
	switch f.Type {
	case schema.TypeBool:
		return &jsonschema.Schema{Type: "boolean"}, nil
	case schema.TypeInt:
		return between("integer", strconv.FormatInt(math.MinInt64, 10), strconv.FormatInt(math.MaxInt64, 10)), nil
	case schema.TypeUint:
		return between("integer", "0", strconv.FormatUint(math.MaxUint64, 10)), nil
	case schema.TypeFloat:
		most := strconv.FormatFloat(math.MaxFloat64, 'e', -1, 64)
		return between("number", "-"+most, most), nil
	case schema.TypeDecimal:
		return pattern(decimalPattern), nil
	case schema.TypeString:
		most := uint64(schema.MaxString)
		return &jsonschema.Schema{Type: "string", MaxLength: &most}, nil
	case schema.TypeTime:
		return &jsonschema.Schema{Type: "string", Format: "date-time", Pattern: timePattern}, nil
	case schema.TypeDuration:
		return pattern(durationPattern), nil
	case schema.TypeEnum:
		s := &jsonschema.Schema{Type: "string"}
		for _, v := range f.Values {
			s.Enum = append(s.Enum, v)
		}
		return s, nil
	case schema.TypeList:
		return arraySchema(f)
	case schema.TypeRecord:
		return recordSchema(f.Fields, describedSchema)
	case schema.TypeJSON:
		return &jsonschema.Schema{}, nil
	}
	return nil, fmt.Errorf("no schema for type %q: use the release that wrote the declaration", f.Type)
}

// between is a number of the type from least to most. The limits stand as
// digits, since a float has not enough of them.
func between(typ, least, most string) *jsonschema.Schema {
	return &jsonschema.Schema{Type: typ, Minimum: json.Number(least), Maximum: json.Number(most)}
}

func pattern(p string) *jsonschema.Schema { return &jsonschema.Schema{Type: "string", Pattern: p} }

// object returns the schema of an object without properties. The library's
// false schema is written as the literal false; any other refusal is lost when
// it is marshalled.
func object(description string) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "object", Description: description, Properties: orderedmap.New[string, *jsonschema.Schema](), AdditionalProperties: jsonschema.FalseSchema}
}

// marshal returns s as the text of a file.
func marshal(s *jsonschema.Schema) ([]byte, error) {
	s.Version = jsonschema.Version
	raw, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	text, err := jsontext.AppendFormat(nil, raw, jsontext.WithIndent("  "), jsontext.EscapeForHTML(false))
	return append(text, '\n'), err
}

// keyPattern is of a map's key: any text without control characters.
const keyPattern = `^[^\x00-\x1f\x7f-\x9f]+$`

func keySchema() *jsonschema.Schema {
	keys := pattern(keyPattern)
	longest := uint64(schema.MaxKey)
	keys.MaxLength = &longest
	return keys
}

// A share is one owner's declaration of a field. Only a map has several.
type share struct {
	owner    string
	field    schema.Field
	readOnly bool // is marked so
}

// shares returns the declarations of the field name by d's owners, that of a map's
// keys owner first.
func shares(d *schema.Declaration, name string) []share {
	first, _ := d.OwnerOf(name)
	all := []share{{owner: first, field: d.Owners[first].Fields[name]}}
	for _, owner := range d.OwnersOf(name) {
		if owner != first {
			all = append(all, share{owner: owner, field: d.Owners[owner].Fields[name]})
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
	// Of a map, a part may be the owner's own.
	first.readOnly = !slices.ContainsFunc(shares, func(s share) bool { return !s.readOnly })
	return first.sign(s, first.field), nil
}

// schema returns the schema of a value that s's owner writes.
func (s share) schema(f schema.Field) (*jsonschema.Schema, error) {
	if f.EffectiveKind() == schema.Set {
		return arraySchema(f)
	}
	return valueSchema(f)
}

// sign names the writer of the value and the kind.
func (s share) sign(schema *jsonschema.Schema, f schema.Field) *jsonschema.Schema {
	schema.Description, schema.ReadOnly = description(f), s.readOnly
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
	entry := object("")
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
	most := uint64(schema.MaxKeys)
	return &jsonschema.Schema{Type: "object", PropertyNames: keySchema(), AdditionalProperties: entry, MaxProperties: &most}, nil
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
	record := object("")
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
