package adopt

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/freehold-dev/freehold/schema"
	"github.com/go-json-experiment/json/jsontext"
)

// An inference maps keys to the values seen under them anywhere in the file.
// From these it guesses the type of a null.
type inference struct {
	named  map[string]*column // by the words of the key
	ending map[string]*column // by the last word of the key
}

const (
	// mostSeen bounds the values kept for one key.
	mostSeen = 256
	// deepest bounds the nesting of the values seen. Each level parses all
	// levels below it once more, and a file may have hundreds.
	deepest = 2 * schema.MaxNest
)

// see notes the values of an object at depth nest, and those within them.
func (in *inference) see(object schema.Object, nest int) {
	for _, m := range object {
		in.within(m.Value, nest+1)
		switch jsontext.Value(m.Value).Kind() {
		case jsontext.KindNull, jsontext.KindBeginArray, jsontext.KindBeginObject:
			continue
		}
		words := snake(m.Name)
		if !schema.ValidName(words) { // a key without letters
			continue
		}
		_, last := ends(words)
		note(in.named, words, words, m.Value)
		note(in.ending, last, words, m.Value)
	}
}

func (in *inference) within(value []byte, nest int) {
	if nest > deepest {
		return
	}
	if object, err := schema.ParseObject(value); err == nil {
		in.see(object, nest)
	}
	if parts, err := elements(value); err == nil {
		for _, part := range parts {
			in.within(part, nest+1)
		}
	}
}

func note(seen map[string]*column, word, key string, value []byte) {
	if seen[word] == nil {
		seen[word] = &column{key: key}
	}
	if c := seen[word]; len(c.values) < mostSeen {
		c.values = append(c.values, value)
	}
}

// ends returns the first and the last word; a single word is the last.
func ends(words string) (first, last string) {
	all := strings.Split(words, "_")
	if len(all) > 1 {
		first = all[0]
	}
	return first, all[len(all)-1]
}

// unseen begins the doc of a field without a seen value.
const unseen = "No value was seen in the legacy file, so that the type is a guess"

// guess returns a type for a key of which only null was seen: the type seen under
// the same key elsewhere, or under keys with the same last word, or else by the
// key's own words.
func (in *inference) guess(key string) schema.Field {
	words := snake(key)
	first, last := ends(words)
	for _, c := range []*column{in.named[words], in.ending[last]} {
		if c == nil {
			continue
		}
		if f := in.inferType(*c, schema.MaxNest); f.Type != schema.TypeJSON {
			return schema.Field{Type: f.Type, Doc: fmt.Sprintf("%s, by the value of %s.", unseen, c.key)}
		}
	}
	byName := func(t schema.Type) schema.Field { return schema.Field{Type: t, Doc: unseen + ", by its name."} }
	switch {
	case slices.Contains([]string{"at", "since", "until"}, last):
		return byName(schema.TypeTime)
	case slices.Contains([]string{"is", "has"}, first):
		return byName(schema.TypeBool)
	case last == "count":
		return byName(schema.TypeInt)
	}
	return schema.Field{Type: schema.TypeString, Doc: unseen + "."}
}

// nameFor returns an unused field name for a legacy key that is not a valid
// name. It returns false if the key cannot be declared as a legacy key.
func nameFor(key string, taken map[string]schema.Field) (string, bool) {
	if !declarable(key) {
		return "", false
	}
	base := snake(key)
	if base == "" || base[0] < 'a' {
		base = strings.TrimSuffix("key_"+base, "_")
	}
	base = strings.TrimRight(base[:min(len(base), 40)], "_")
	name := base
	for i := 2; ; i++ {
		if _, ok := taken[name]; !ok {
			return name, true
		}
		name = fmt.Sprintf("%s_%d", base, i)
	}
}

func snake(key string) string {
	var b strings.Builder
	for i, c := range []byte(key) {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
			b.WriteByte(c)
		case c >= 'A' && c <= 'Z':
			if i > 0 && key[i-1] >= 'a' && key[i-1] <= 'z' {
				b.WriteByte('_')
			}
			b.WriteByte(c + 'a' - 'A')
		case !strings.HasSuffix(b.String(), "_"):
			b.WriteByte('_')
		}
	}
	return strings.Trim(b.String(), "_")
}

// declarable reports whether key can be a legacy key in owners.yaml: one line
// of at most 100 visible characters.
func declarable(key string) bool {
	shows := strings.IndexFunc(key, func(c rune) bool { return !unicode.IsGraphic(c) }) < 0
	return shows && key != "" && key != schema.LegacyFile && strings.TrimSpace(key) == key && utf8.RuneCountInString(key) <= 100
}
