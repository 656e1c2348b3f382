package declare

import (
	"fmt"
	"go/token"
	"slices"
	"strings"
	"unicode"

	"github.com/freehold-dev/freehold/schema"
	"go.yaml.in/yaml/v3"
)

// valueRule is the rule for the values of an enum, as a regular expression. A
// value becomes part of a Go name, a word on the command line and a line of a
// schema; everything that is allowed here needs quotes in none of them.
const valueRule = `^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`

// maxValues is the most values that an enum may have.
const maxValues = 256

func validValue(s string) bool {
	if s == "" || len(s) > 64 || strings.ContainsAny(s[:1], "._-") {
		return false
	}
	for _, c := range []byte(s) {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '.' && c != '_' && c != '-' {
			return false
		}
	}
	return true
}

// readValues reads the values of an enum, which is what and stands at whose,
// and reports those of another type.
func (f *fileReader) readValues(field *fieldEntry, whose place, what string, values *yaml.Node) {
	switch enum := field.field.Type == schema.TypeEnum; {
	case values == nil && enum:
		f.report(whose, `%s is an enum without values: add "values: […]"`, what)
		return
	case values == nil || values.Kind == yaml.AliasNode:
		return
	case !enum:
		f.report(at(values), "%s has values and is of type %s: remove them, or use type enum", what, field.field.Type)
		return
	case values.Kind != yaml.SequenceNode && !isNull(values):
		f.report(at(values), "the values of %s: want a list in brackets, not %s", what, shape(values))
		return
	case len(values.Content) == 0:
		f.report(at(values), "%s is an enum without values: list at least one", what)
		return
	case len(values.Content) > maxValues:
		f.report(at(values), "%s has %d values and may have %d: use type string", what, len(values.Content), maxValues)
		return
	}
	seen := map[string]*yaml.Node{}
	for i, n := range values.Content {
		text, ok := f.text(n, fmt.Sprintf("value %d of %s", i+1, what))
		if ok && f.checkValue(n, text, what, seen) {
			field.field.Values = append(field.field.Values, text)
			field.values = append(field.values, at(n))
		}
	}
}

// checkValue reports a value that breaks the rule or equals one in seen, which
// holds the values before it in lower case.
func (f *fileReader) checkValue(n *yaml.Node, text, what string, seen map[string]*yaml.Node) bool {
	if !validValue(text) {
		advice := "choose another spelling"
		if better := strings.ReplaceAll(text, " ", "-"); validValue(better) {
			advice = "write " + better
		}
		f.report(at(n), `the value %s of %s may have only letters a-z and A-Z, digits, "-", "_" and ".", at most 64 of them, a letter or digit first: %s`,
			quote(text), what, advice)
		return false
	}
	first, ok := seen[strings.ToLower(text)]
	switch {
	case ok && first.Value == text:
		f.report(at(n), "%s has the value %s twice, first at %s: remove one", what, text, f.cite(at(first)))
		return false
	case ok:
		f.report(at(n), "the value %s of %s differs only in case from %s at %s: keep one of them", text, what, first.Value, f.cite(at(first)))
		return false
	}
	seen[strings.ToLower(text)] = n
	return true
}

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
