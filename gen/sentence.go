package gen

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/freehold-dev/freehold/schema"
)

// commentWidth is the widest line of a comment, its slashes included, unless
// a single word is wider.
const commentWidth = 78

// clean returns text as one line of graphic characters. A declaration may come
// from a stranger: line breaks would end a comment, and invisible characters,
// above all those that reverse text, would hide code. The two joiners stay,
// because scripts and emoji need them.
func clean(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case r == '\u200c' || r == '\u200d' || unicode.IsGraphic(r):
			return r
		}
		return -1
	}, strings.ToValidUTF8(text, "\uFFFD"))
	return strings.Join(strings.Fields(text), " ")
}

// sentence returns clean text with a full stop, or nothing.
func sentence(text string) string {
	text = clean(text)
	last, _ := utf8.DecodeLastRuneInString(text)
	if text == "" || strings.ContainsRune(".!?…", last) {
		return text
	}
	return text + "."
}

// comment joins the sentences and wraps them to a comment. Each line starts
// with "// ", so no line is a directive: those have no space.
func comment(sentences ...string) string {
	var b strings.Builder
	width := 0
	for _, word := range strings.Fields(strings.Join(sentences, " ")) {
		n := utf8.RuneCountInString(word)
		switch {
		case b.Len() == 0:
			b.WriteString("// ")
			width = len("// ")
		case width+1+n > commentWidth && !glued(word):
			b.WriteString("\n// ")
			width = len("// ")
		default:
			b.WriteByte(' ')
			width++
		}
		b.WriteString(word)
		width += n
	}
	return b.String()
}

// glued reports whether word must not begin a line: there it would start a
// build constraint, a heading, a list or a link definition.
func glued(word string) bool {
	if strings.HasPrefix(word, "[") {
		return strings.Contains(word, "]:")
	}
	number := strings.TrimLeft(word, "0123456789")
	return strings.ContainsAny(word[:1], "+-*#") || strings.HasPrefix(word, "•") ||
		number != word && strings.ContainsAny(number[:min(1, len(number))], ".)")
}

// enumerate writes "a, b and c".
func enumerate(words []string, last string) string {
	n := len(words)
	if n < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:n-1], ", ") + " " + last + " " + words[n-1]
}

// OwnerList names the owners.
func (s *state) OwnerList() string { return enumerate(s.declared.OwnerNames(), "and") }

// About ends the sentence about an owner's package or fields: with a full stop,
// or with the owner's own text.
func (o owner) About() string {
	if doc := sentence(o.Doc); doc != "" {
		return ": " + doc
	}
	return "."
}

// documented returns the comment of name: its sentences after the name. It is empty
// if they are, since a comment that only repeats a name says nothing.
func documented(name string, sentences ...string) string {
	if strings.Join(sentences, "") == "" {
		return ""
	}
	return comment(append([]string{name + ":"}, sentences...)...)
}

// Text is the field's own text, or nothing.
func (f field) Text() string { return sentence(f.spec.Doc) }

// Text is the record's own text, or nothing.
func (r record) Text() string { return sentence(r.spec.Doc) }

// Unit is a sentence or empty, and so are those below.
func (f field) Unit() string {
	if unit := clean(f.spec.Unit); unit != "" {
		return sentence("Unit: " + unit)
	}
	return ""
}

// Depends names the fields that f is computed from.
func (f field) Depends() string {
	if !f.Dependent() {
		return ""
	}
	return "It depends on " + f.DependencyList() + "."
}

// Fresh says that a setting for tests has observed them.
func (f field) Fresh() string {
	if !f.Dependent() {
		return ""
	}
	return "It is written after all settings of " + f.DependencyList() + ", so that it is fresh."
}

// Joins names the owners of a map of several.
func (f field) Joins() string {
	if len(f.others) == 0 {
		return ""
	}
	return "Owner " + f.decider + " decides the keys; the members belong to " + enumerate(f.havers, "and") + "."
}

// Combines says how commits combine to the value that a view shows.
func (f field) Combines() string {
	if joins := f.Joins(); joins != "" {
		return joins
	}
	combines, _ := severalOf(f.valueSpec())
	return f.atKey("At each key, ", combines)
}

// Settles says how several settings of one field combine in a test's state.
func (f field) Settles() string {
	if f.IsRecordMap() {
		return "Keys without members are created, too."
	}
	_, settles := severalOf(f.valueSpec())
	return f.atKey("At one key, ", settles)
}

// atKey returns a sentence about the values of f, which in a map are at its
// keys.
func (f field) atKey(start, sentence string) string {
	if f.spec.Value == nil || sentence == "" {
		return sentence
	}
	return start + strings.ToLower(sentence[:1]) + sentence[1:]
}

// severalOf says how several commits of a value like spec combine, and how
// several settings in a test.
func severalOf(spec schema.Field) (combines, settles string) {
	switch spec.EffectiveKind() {
	case schema.Max, schema.Min:
		more, most := movesOf(spec)
		return "It only ever gets " + more + ".", "Of several, the " + most + " counts."
	case schema.Counter:
		return "It is a sum.", "Several add up."
	case schema.Once:
		return "At most one claim of it ever wins; the value is the time of that claim.", "It is claimed at that time. Of several, the first counts."
	case schema.Event:
		return "It is the time at which the event was last done.", "It was done at that time. Of several, the last counts."
	case schema.Set:
		return "It is a set: its elements are sorted and distinct.", "Several are put together."
	}
	return "", "Of several, the last counts."
}

// movesOf returns the words for a value that moves as a max or min does.
func movesOf(spec schema.Field) (more, most string) {
	words := "higher highest lower lowest"
	switch spec.Type {
	case schema.TypeTime:
		words = "later latest earlier earliest"
	case schema.TypeDuration:
		words = "longer longest shorter shortest"
	}
	ways := strings.Fields(words)
	if spec.EffectiveKind() == schema.Min {
		ways = ways[2:]
	}
	return ways[0], ways[1]
}

// Refuses names the values that fail an Update, and the other conditions of a
// writer's accessor.
func (f field) Refuses() string {
	spec := f.valueSpec()
	refused := refusals[spec.Type]
	switch {
	case !f.Decides():
		return "At a key that " + f.decider + " has not created the Update fails with [sidecar.ErrNoKey]."
	case spec.EffectiveKind() == schema.Once:
		return "At most one Claim of it ever wins."
	case spec.EffectiveKind() == schema.Event:
		return "Call Begin before the effect and Done after it: in between, and after a crash in between, readers see the event as open."
	case spec.EffectiveKind() == schema.Counter && spec.Type != schema.TypeDecimal:
		refused = "A sum that overflows"
	}
	if refused == "" {
		return ""
	}
	return refused + " fails the Update with [sidecar.ErrValue]."
}

// refusals has the values that each type refuses; a map has no type.
var refusals = map[schema.Type]string{
	"":                 "A key that is empty, longer than 256 bytes or holds a control character",
	schema.TypeList:    "An element that its type refuses, or more than 16384,",
	schema.TypeRecord:  "A member that its type refuses",
	schema.TypeJSON:    "Text that is not one JSON value, or nests deeper than 48,",
	schema.TypeFloat:   "NaN or an infinity",
	schema.TypeDecimal: "More than 40 digits before or after the point",
	schema.TypeString:  "Invalid UTF-8 or more than 64 KiB",
	schema.TypeTime:    "The zero time or a year after 9999",
	schema.TypeEnum:    "The zero value",
}

// MemberList names the members of a map's entry that the package has.
func (f field) MemberList() string {
	if len(f.Members) == 0 {
		return "none"
	}
	var names []string
	for _, m := range f.Members {
		names = append(names, m.Name)
	}
	return enumerate(names, "and")
}

// KindWord, TypeWords, UnitWord and Meaning are the cells of the field in the
// ownership matrix.
func (f field) KindWord() string  { return string(f.spec.EffectiveKind()) }
func (f field) TypeWords() string { return typeWords(f.spec) }
func (f field) UnitWord() string  { return f.valueSpec().Unit }
func (f field) Meaning() string   { return strings.TrimSpace(f.spec.Doc + " " + f.Depends()) }

// typeWords describes the type of f in the ownership matrix.
func typeWords(f schema.Field) string {
	switch {
	case f.EffectiveKind() == schema.Map && f.Value != nil:
		return kindWords(*f.Value)
	case f.EffectiveKind() == schema.Map:
		return "record"
	case f.Type == schema.TypeEnum:
		return "enum: " + strings.Join(f.Values, ", ")
	case f.Type == schema.TypeList:
		return "list of " + typeWords(*f.Of)
	case f.Type == schema.TypeRecord:
		var members []string
		for _, name := range f.MemberNames() {
			members = append(members, name+": "+typeWords(f.Fields[name]))
		}
		return "record {" + strings.Join(members, "; ") + "}"
	}
	return string(f.Type)
}

// kindWords is typeWords with the kind, except value.
func kindWords(f schema.Field) string {
	if kind := f.EffectiveKind(); kind != schema.Value {
		return string(kind) + " of " + typeWords(f)
	}
	return typeWords(f)
}
