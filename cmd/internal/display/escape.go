// Package display writes values, names and times for people, so that no terminal
// obeys them. It does not know colours or tables.
package display

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ASCII says that the terminal has no other characters, and may obey a byte of one.
// It is set before any other use of this package.
var ASCII bool

// harmless reports whether r does nothing to a terminal but show. The two
// joiners stay, because scripts and emoji need them.
func harmless(r rune) bool {
	if ASCII && r > unicode.MaxASCII {
		return false
	}
	return r == '\u200c' || r == '\u200d' || (unicode.IsGraphic(r) && r != utf8.RuneError)
}

// Escape returns text with every character that is not graphic, line ends too, as
// an escape of Go's. A stranger's text could otherwise move a terminal's cursor,
// turn the direction of its text or answer in the user's place.
func Escape(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return !harmless(r) }) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case r == utf8.RuneError && !ASCII || harmless(r):
			b.WriteRune(r)
		default:
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		i += size
	}
	return b.String()
}

// Line returns the text of an error, which may be several joined, as one line.
func Line(text string) string { return strings.ReplaceAll(text, "\n", "; ") }

// Text returns a field's text for a table or a sentence: in quotes where the text
// would not stand out or could be taken for something else.
func Text(text string) string {
	plain := text != "" && text == strings.TrimSpace(text) && !strings.HasPrefix(text, `"`) && Escape(text) == text
	if plain && text != Unset {
		return text
	}
	return Quote(text)
}

// Quote returns text in quotes.
func Quote(text string) string {
	return `"` + Escape(strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text)) + `"`
}

// Unset stands for the value of a field that has none.
const Unset = "unset"

// EscapeJSON returns JSON with escapes for the same characters. The meaning stays:
// outside of its strings JSON has none of them.
func EscapeJSON(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		switch {
		case r == '\n' || r == utf8.RuneError && !ASCII || harmless(r):
			out = append(out, text[i:i+size]...)
		case r > 0xffff:
			r -= 0x10000
			out = fmt.Appendf(out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		i += size
	}
	return out
}
