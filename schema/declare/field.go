package declare

import (
	"go/token"
	"slices"
	"strings"
	"unicode"

	"github.com/freehold-dev/freehold/schema"
	"go.yaml.in/yaml/v3"
)

var (
	fieldKeys  = []string{"type", "kind", "values", "doc", "unit", "go", "legacy"}
	fieldLater = []string{"depends_on", "was", "record", "keys", "of"}
	laterTypes = []string{"list", "record", "json"}
	laterKinds = []string{"once", "event", "set", "map"}
)

const (
	maxDoc  = 2000 // characters of a doc text
	maxLine = 100  // characters of a unit, a legacy key or a Go name
)

// readField reads one field. The result is false if the name is so wrong that
// nothing more can be said about the field.
func (f *fileReader) readField(e entry) (fieldEntry, bool) {
	named := f.checkName(e.at, "field", e.name)
	what := "field " + plain(e.name)
	want := "{type: …}"
	if slices.Contains(words(schema.Types()...), e.value.Value) {
		want = "{type: " + e.value.Value + "}"
	}
	m := f.members(e.value, what, want, fieldKeys, fieldLater)
	field := fieldEntry{name: e.name, at: e.at, goAt: e.at}
	field.field = schema.Field{
		Kind:   schema.Value,
		Doc:    f.prose(m["doc"], "the doc of "+what),
		Unit:   f.line(m["unit"], "the unit of "+what),
		Legacy: f.line(m["legacy"], "the legacy key of "+what),
	}
	if m["type"] == nil && (e.value.Kind == yaml.MappingNode || isNull(e.value)) {
		f.report(e.at, `%s has no type: add "type:", one of %s`, what, list(words(schema.Types()...), "and"))
	}
	typ, typed := f.word(m["type"], "type", what, words(schema.Types()...), laterTypes)
	kind, kinded := f.word(m["kind"], "kind", what, words(schema.Kinds()...), laterKinds)
	if kinded {
		field.field.Kind = schema.Kind(kind)
	}
	if typed {
		field.field.Type = schema.Type(typ)
		if kinded {
			f.checkKind(at(m["kind"]), what, field.field)
		}
		f.checkUnit(m["unit"], what, field.field.Type)
		f.readValues(&field, e, m["values"])
	}
	if name, ok := f.text(m["go"], "the Go name of "+what); ok && f.checkGo(at(m["go"]), name, what) {
		field.field.Go, field.goAt = name, at(m["go"])
	}
	return field, named
}

// checkKind reports a kind that does not go with the type.
func (f *fileReader) checkKind(at place, what string, field schema.Field) {
	kind, typ := field.Kind, field.Type
	if kind.Allows(typ) {
		return
	}
	if kind == schema.Counter && typ == schema.TypeFloat {
		f.report(at, "%s is a counter of type float, which does not sum exactly: use type decimal", what)
		return
	}
	f.report(at, "%s is of kind %s, which type %s cannot be: use kind value, or one of the types %s",
		what, kind, typ, list(words(allowed(kind)...), "and"))
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

// prose returns the text of a doc: one or more lines. A character that does
// not show is refused, since it could make the text look like what it is not.
func (f *fileReader) prose(n *yaml.Node, what string) string {
	text, ok := f.text(n, what)
	if !ok {
		return ""
	}
	text = strings.TrimSpace(text)
	switch i := strings.IndexFunc(text, hidden); {
	case text == "":
		f.report(at(n), "%s is blank: write a sentence or remove it", what)
	case len([]rune(text)) > maxDoc:
		f.report(at(n), "%s is longer than %d characters: write less", what, maxDoc)
	case i >= 0:
		f.report(at(n), "%s holds the character %U, which does not show: remove it", what, []rune(text[i:])[0])
	default:
		return text
	}
	return ""
}

// hidden reports whether c is a character that neither shows nor separates.
// The two joiners stay, because scripts and emoji need them.
func hidden(c rune) bool {
	return c != '\n' && c != '\t' && c != '\u200c' && c != '\u200d' && !unicode.IsGraphic(c)
}

// line returns the text of a short remark: one line.
func (f *fileReader) line(n *yaml.Node, what string) string {
	text, ok := f.text(n, what)
	if !ok {
		return ""
	}
	switch {
	case strings.TrimSpace(text) != text:
		f.report(at(n), "%s, %s, begins or ends with a space: remove it", what, quote(text))
	case strings.IndexFunc(text, func(c rune) bool { return !unicode.IsGraphic(c) }) >= 0:
		f.report(at(n), "%s, %s, holds a character that does not show: remove it", what, quote(text))
	case len([]rune(text)) > maxLine:
		f.report(at(n), "%s is longer than %d characters: write less", what, maxLine)
	default:
		return text
	}
	return ""
}
