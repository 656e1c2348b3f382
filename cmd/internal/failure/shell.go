package failure

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// shellWord returns text as one word of a shell. It has graphic characters only, so
// that a terminal shows it as it is; line ends at the end of a text with others
// get lost, as they do in every shell.
func shellWord(text string) string {
	odd := func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+@%:,=~", r))
	}
	if text != "" && text[0] != '~' && strings.IndexFunc(text, odd) < 0 {
		return text
	}
	if strings.ContainsFunc(text, ungraphic) {
		return `"$(printf '` + octal(text) + `')"`
	}
	return singleQuoted(text)
}

func singleQuoted(text string) string {
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

func ungraphic(r rune) bool { return r == utf8.RuneError || !unicode.IsGraphic(r) }

// octal returns the format of a printf that writes text. Not every shell has
// another way to write other than graphic characters.
func octal(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		part := text[i : i+size]
		i += size
		if ungraphic(r) || strings.ContainsRune("\\%-\"'`", r) { // printf or a search for quotes would read them
			for _, c := range []byte(part) {
				fmt.Fprintf(&b, `\%03o`, c)
			}
			continue
		}
		b.WriteString(part)
	}
	return b.String()
}
