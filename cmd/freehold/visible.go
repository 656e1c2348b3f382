package main

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Values, names and paths may come from a stranger. Written to a terminal as
// they are, they could move its cursor, turn the direction of its text around
// or answer in the user's place; so nothing is written but graphic characters.

// harmless reports whether r does nothing to a terminal but show. The two
// joiners stay, because scripts and emoji need them.
func harmless(r rune) bool {
	return r == '\u200c' || r == '\u200d' || (unicode.IsGraphic(r) && r != utf8.RuneError)
}

// visible returns text with every other character, line ends too, as an
// escape of Go's.
func visible(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return !harmless(r) }) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case r == utf8.RuneError || harmless(r):
			b.WriteRune(r)
		default:
			quoted := strconv.QuoteRune(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		i += size
	}
	return b.String()
}

// onOneLine returns the text of an error, which may be several joined, as one line.
func onOneLine(text string) string { return strings.ReplaceAll(text, "\n", "; ") }

// shown returns a field's text for a table or a sentence: in quotes where it
// would not stand out or could be taken for something else.
func shown(text string) string {
	plain := text != "" && text == strings.TrimSpace(text) && !strings.HasPrefix(text, `"`) && visible(text) == text
	if plain && text != unset {
		return text
	}
	return quoted(text)
}

// quoted returns text in quotes.
func quoted(text string) string {
	return `"` + visible(strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text)) + `"`
}

// unset stands for the value of a field that has none.
const unset = "unset"

// visibleJSON returns JSON with escapes for the same characters. It means the
// same: outside of its strings JSON has none of them.
func visibleJSON(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		switch {
		case r == '\n' || r == utf8.RuneError || harmless(r):
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
