package main

import (
	"fmt"
	"strings"

	"github.com/freehold-dev/freehold/schema"
	"github.com/go-json-experiment/json/jsontext"
)

// clipped is how many characters of a value with parts a sentence or a cell
// shows; few is how many of its elements or keys.
const (
	clipped = 64
	few     = 4
)

// composite reports whether values of f are JSON also for people.
func composite(f schema.Field) bool {
	kind := f.EffectiveKind()
	return kind == schema.Set || kind == schema.Map ||
		f.Type == schema.TypeList || f.Type == schema.TypeRecord || f.Type == schema.TypeJSON
}

// typed returns a stored value as a person would type it; for eyes with escapes
// for what a terminal would obey.
func typed(f schema.Field, raw jsontext.Value, eyes bool) string {
	switch {
	case composite(f) && eyes:
		return string(visibleJSON(raw))
	case composite(f):
		return string(raw)
	case eyes:
		return visible(f.Text(raw))
	}
	return f.Text(raw)
}

// shownValue returns a stored value for a sentence or a cell: of a set or a map
// how much is in it and the first of that, and no more of other values with
// parts than has room.
func shownValue(f schema.Field, raw jsontext.Value) string {
	switch {
	case raw == nil:
		return unset
	case f.EffectiveKind() == schema.Set:
		element, _ := f.Element()
		elements, err := f.Elements(raw)
		if err != nil {
			break
		}
		return summary(len(elements), "element", "elements", func(i int) string { return shown(element.Text(elements[i])) })
	case f.EffectiveKind() == schema.Map:
		object, err := schema.ParseObject(raw)
		if err != nil {
			break
		}
		return summary(len(object), "key", "keys", func(i int) string { return shownKey(object[i].Name) })
	case !composite(f):
		return shown(f.Text(raw))
	}
	return clip(string(visibleJSON(raw)))
}

// summary says how many parts there are, and names the first.
func summary(n int, one, many string, name func(i int) string) string {
	if n == 0 {
		return "no " + many
	}
	var names []string
	for i := range min(n, few) {
		names = append(names, name(i))
	}
	if n > few {
		names = append(names, "…")
	}
	return clip(count(n, one, many) + ": " + strings.Join(names, ", "))
}

// clip cuts what has no room off text.
func clip(text string) string {
	runes := []rune(text)
	if len(runes) <= clipped {
		return text
	}
	return string(runes[:clipped-1]) + "…"
}

// shownKey returns a key of a map for a sentence, in which it must be one word.
func shownKey(key string) string {
	if text := shown(key); strings.HasPrefix(text, `"`) || !strings.ContainsAny(text, " :,") {
		return text
	}
	return quoted(key)
}

// called names what f is, for a sentence.
func called(f schema.Field) string {
	kind := f.EffectiveKind()
	switch {
	case kind == schema.Map && f.Value != nil:
		return fmt.Sprintf("map with a %s at each key", called(*f.Value))
	case kind == schema.Map:
		return "map"
	case kind == schema.Once:
		return "once field"
	case kind == schema.Event:
		return "field of kind event"
	}
	return fmt.Sprintf("%s of type %s", kind, typeName(f))
}

// typeName names f's type, with that of its elements.
func typeName(f schema.Field) string {
	if f.Type == schema.TypeList && f.Of != nil {
		return "list of " + typeName(*f.Of)
	}
	return string(f.Type)
}

// commandOf returns the command by which owner writes f.
func commandOf(owner, field string, f schema.Field) string {
	operands := map[schema.Kind]string{
		schema.Value:   "set %s %s=VALUE",
		schema.Counter: "add %s %s VALUE",
		schema.Max:     "raise %s %s VALUE",
		schema.Min:     "lower %s %s VALUE",
		schema.Once:    "claim %s %s",
		schema.Event:   "begin %s %s",
		schema.Set:     "insert %s %s VALUE",
		schema.Map:     "put %s %s KEY MEMBER=VALUE",
	}[f.EffectiveKind()]
	switch {
	case f.Value != nil:
		operands = "put %s %s KEY VALUE"
	case f.EffectiveKind() == schema.Map && len(f.Record) == 0:
		operands = "insert %s %s KEY"
	}
	if f.Dependent() {
		operands += " --seen TOKEN" // without it nobody can tell whether the value is fresh
	}
	return fmt.Sprintf("freehold "+operands, owner, field)
}
