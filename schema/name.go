package schema

import (
	"strings"
	"unicode"
)

// NameRule is the rule for names of states, owners and fields, as a regular
// expression. A name is a file name, a JSON key and the root of a Go
// identifier on every platform at once, so it has no upper case, no dots and
// no separators.
const NameRule = `^[a-z][a-z0-9_]{0,47}$`

// ValidName reports whether s fits [NameRule].
func ValidName(s string) bool {
	if s == "" || len(s) > 48 || s[0] < 'a' || s[0] > 'z' {
		return false
	}
	for _, c := range []byte(s) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return true
}

// FoldCase maps all spellings of a name that differ only in case to one, as
// [strings.EqualFold] compares them.
func FoldCase(name string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return least
	}, name)
}
