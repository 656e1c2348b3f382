package gen

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// commentWidth is the widest line of a comment, its slashes included, unless
// a single word is wider.
const commentWidth = 78

// clean returns text as one line of graphic characters. The text of a
// declaration may come from a stranger: line breaks would let it leave its
// comment, and invisible characters, the ones that turn writing around above
// all, would let it look like what it is not. The two joiners stay, because
// scripts and emoji need them.
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

// sentence is clean text that ends as a sentence does, or nothing.
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

// glued reports whether word must not be the first of a line: there it would
// start a build constraint, a heading, a list or a link definition.
func glued(word string) bool {
	if strings.HasPrefix(word, "[") {
		return strings.Contains(word, "]:")
	}
	number := strings.TrimLeft(word, "0123456789")
	return strings.ContainsAny(word[:1], "+-*#") || strings.HasPrefix(word, "•") ||
		number != word && strings.ContainsAny(number[:min(1, len(number))], ".)")
}
