package adopt

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/freehold-dev/freehold/schema"
)

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

// snake returns the words of a key in snake_case.
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
