package declare

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

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
	noncePattern    = `^[0-9a-v]{13}$`
	versionPattern  = `^\d{1,16}\.\d{1,16}\.[0-9a-v]{13}$`
)

// maxCount is the largest epoch and revision.
const maxCount = "9007199254740991"

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
		return instant(), nil
	case schema.TypeDuration:
		return pattern(durationPattern), nil
	case schema.TypeEnum:
		return oneOf(f.Values...), nil
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

func instant() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Format: "date-time", Pattern: timePattern}
}

func count() *jsonschema.Schema { return between("integer", "0", maxCount) }

func oneOf[T ~string](all ...T) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string"}
	for _, v := range all {
		s.Enum = append(s.Enum, v)
	}
	return s
}

// A property is one member of an object.
type property struct {
	name     string
	schema   *jsonschema.Schema
	required bool
}

// object is an object with the properties. Whether it may have others is up
// to the caller; it may if nobody says no.
func object(description string, properties ...property) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Description: description, Properties: orderedmap.New[string, *jsonschema.Schema]()}
	for _, p := range properties {
		s.Properties.Set(p.name, p.schema)
		if p.required {
			s.Required = append(s.Required, p.name)
		}
	}
	return s
}

// closed makes the object s one that has no other properties. The library's
// false schema is written as the literal false; any other way to say no is
// lost when it is marshalled.
func closed(s *jsonschema.Schema) *jsonschema.Schema {
	s.AdditionalProperties = jsonschema.FalseSchema
	return s
}

func described(description string, s *jsonschema.Schema) *jsonschema.Schema {
	s.Description = description
	return s
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
