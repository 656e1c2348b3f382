package adopt

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/freehold-dev/freehold/schema"
)

// An inference maps keys to the values seen under them anywhere in the file.
// From these it guesses the type of a null and of an empty list.
type inference struct {
	named map[string]*column // by the words of the key
	asked map[string]bool    // the words of keys that are being guessed
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
		if words := snake(m.Name); !vacant(m.Value) && schema.ValidName(words) { // else a key without letters
			note(in.named, words, words, m.Value)
		}
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

// unseen begins the doc of a field without a seen value.
const unseen = "No value was seen in the legacy file, so that the type is a guess"

// guess returns a type for a column in which only null and [] were seen: the type seen
// under the same key elsewhere, if that holds them; or else json.
func (in *inference) guess(c column, nest int) schema.Field {
	words := snake(c.key)
	elsewhere := in.named[words]
	if elsewhere == nil || in.asked[words] {
		return schema.Field{Type: schema.TypeJSON}
	}
	in.asked = map[string]bool{words: true}
	f := in.inferType(column{c.key, slices.Concat(elsewhere.values, c.values)}, nest)
	in.asked = nil
	if f.Type != schema.TypeJSON {
		f.Doc = fmt.Sprintf("%s, by the value of %s.", unseen, elsewhere.key)
	}
	return f
}

// withUnit matches a duration as Go writes one, with a unit.
var withUnit = regexp.MustCompile(`^"-?(\d+(\.\d*)?(ns|us|µs|μs|ms|s|m|h))+"$`)

var (
	noOffset = regexp.MustCompile(`^"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?"$`)
	date     = regexp.MustCompile(`^"\d{4}-\d\d-\d\d"$`)
	seconds  = regexp.MustCompile(`^1\d{9}(\.\d+)?$`)
	millis   = regexp.MustCompile(`^1\d{12}(\.\d+)?$`)
)

// remarked returns f with a remark if its values look like times that it does not hold.
func remarked(f schema.Field, values [][]byte) schema.Field {
	for _, look := range []struct {
		form   *regexp.Regexp
		remark string
	}{
		{noOffset, "The texts look like instants without an offset from UTC."},
		{date, "The texts look like dates."},
		{seconds, "The numbers look like seconds since 1970."},
		{millis, "The numbers look like milliseconds since 1970."},
	} {
		if !slices.ContainsFunc(values, func(v []byte) bool { return !look.form.Match(v) }) {
			f.Doc = look.remark
		}
	}
	return f
}

var (
	uuid   = regexp.MustCompile(`^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$`)
	hex    = regexp.MustCompile(`^([0-9a-f]{12,}|[0-9A-F]{12,})$`)
	digits = regexp.MustCompile(`(^|[-.])\d+([-.]|$)`)
)

// isData reports whether a key can be no name in any style: an id, a path, a host, a
// number, a date.
func isData(key string) bool {
	switch {
	case key == "":
		return false
	case key[0] >= '0' && key[0] <= '9', strings.ContainsAny(key, `/\:=,;|<>(){}[]"'`+"`"), strings.Contains(key[1:], "@"):
		return true
	}
	return uuid.MatchString(key) || hex.MatchString(key) && strings.ContainsAny(key, "0123456789") || digits.MatchString(key)
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
