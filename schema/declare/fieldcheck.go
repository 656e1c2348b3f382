package declare

import (
	"go/token"
	"slices"
	"strings"
	"unicode"

	"github.com/freehold-dev/freehold/schema"
	"go.yaml.in/yaml/v3"
)

// checkKind reports a kind that does not go with the type.
func (f *fileReader) checkKind(at place, what string, field schema.Field) {
	kind, typ := field.Kind, field.Type
	switch {
	case kind.Allows(typ):
	case kind == schema.Counter && typ == schema.TypeFloat:
		f.report(at, "%s is a counter of type float, which does not sum exactly: use type decimal", what)
	case kind == schema.Set && typ == schema.TypeFloat:
		f.report(at, "%s is a set of type float, of which no two are surely the same: use type decimal", what)
	case impliedTypes[kind] != "":
		f.report(at, "%s is of kind %s, whose type is %s, and says type %s: remove the type, or use another kind", what, kind, impliedTypes[kind], typ)
	default:
		f.report(at, "%s is of kind %s, which type %s cannot be: use kind value, or one of the types %s",
			what, kind, typ, list(words(allowed(kind)...), "and"))
	}
}

// allowed returns the types that a field of the kind may have.
func allowed(kind schema.Kind) []schema.Type {
	return slices.DeleteFunc(schema.Types(), func(t schema.Type) bool { return !kind.Allows(t) })
}

// numbers are the types whose values count something.
var numbers = []schema.Type{schema.TypeInt, schema.TypeUint, schema.TypeFloat, schema.TypeDecimal}

// checkUnit reports a unit of something that is no number.
func (f *fileReader) checkUnit(unit *yaml.Node, what string, typ schema.Type) {
	if unit != nil && !slices.Contains(numbers, typ) {
		f.report(at(unit), "%s has a unit and is no number: remove it, or say it in the doc", what)
	}
}

// checkGo reports a "go:" that cannot name a method, a type and a function of
// another package.
func (f *fileReader) checkGo(at place, name, what string) bool {
	ascii := strings.IndexFunc(name, func(c rune) bool { return c > unicode.MaxASCII }) < 0
	if ascii && len(name) <= maxLine && token.IsIdentifier(name) && token.IsExported(name) {
		return true
	}
	f.report(at, "the Go name of %s, %s, is no exported identifier: write a capital letter, then letters and digits", what, quote(name))
	return false
}
