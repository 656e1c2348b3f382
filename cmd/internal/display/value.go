package display

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

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

// Plain returns a stored value as a person would type it; for a terminal with escapes
// for what a terminal would obey.
func Plain(f schema.Field, raw jsontext.Value, terminal bool) string {
	switch {
	case composite(f) && terminal:
		return string(EscapeJSON(raw))
	case composite(f):
		return string(raw)
	case terminal:
		return Escape(f.Text(raw))
	}
	return f.Text(raw)
}

// Value returns a stored value for a sentence or a cell: of a set or a map
// how much is in it and the first of that, and no more of other values with
// parts than has room.
func Value(f schema.Field, raw jsontext.Value) string {
	switch {
	case raw == nil:
		return Unset
	case f.EffectiveKind() == schema.Set:
		element, _ := f.Element()
		elements, err := f.Elements(raw)
		if err != nil {
			break
		}
		return summary(len(elements), "element", "elements", func(i int) string { return Text(element.Text(elements[i])) })
	case f.EffectiveKind() == schema.Map:
		object, err := schema.ParseObject(raw)
		if err != nil {
			break
		}
		return summary(len(object), "key", "keys", func(i int) string { return Key(object[i].Name) })
	case !composite(f):
		return Text(f.Text(raw))
	}
	return Clip(string(EscapeJSON(raw)))
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
		names = append(names, ellipsis())
	}
	return Clip(Count(n, one, many) + ": " + strings.Join(names, ", "))
}

// Clip shortens text to the characters that a cell has room for.
func Clip(text string) string { return ClipTo(text, clipped) }

// ClipTo shortens text to most characters, at a blank where one is near. No instant
// loses its end.
func ClipTo(text string, most int) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	end := len(string(runes[:most-1]))
	if blank := strings.LastIndexByte(text[:end], ' ') + 1; blank > end/2 {
		end = blank
	}
	for _, at := range Instants().FindAllStringIndex(text, -1) {
		if at[0] < end && end < at[1] {
			end = at[0]
		}
	}
	return text[:end] + ellipsis()
}

// Instants returns a pattern of times as values have them; none is broken or cut.
var Instants = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?`)
})

func ellipsis() string {
	if ASCII {
		return "..."
	}
	return "…"
}

// Key returns a key of a map for a sentence, in which it must be one word.
func Key(key string) string {
	if text := Text(key); strings.HasPrefix(text, `"`) || !strings.ContainsAny(text, " :,") {
		return text
	}
	return Quote(key)
}

// Kind names the kind and type of f, for a sentence.
func Kind(f schema.Field) string {
	kind := f.EffectiveKind()
	switch {
	case kind == schema.Map && f.Value != nil:
		return fmt.Sprintf("map with a %s at each key", Kind(*f.Value))
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

// Count returns n with the words for one or for many.
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// List joins words as a sentence does.
func List(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// Instant returns a time for people, to the millisecond.
func Instant(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// Exact returns t for a program, as sidecars write it.
func Exact(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
