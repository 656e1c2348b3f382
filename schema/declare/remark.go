package declare

import (
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

const (
	maxDoc  = 2000 // characters of a doc text
	maxLine = 100  // characters of a unit, a legacy key or a Go name
)

// prose returns the text of a doc: one or more lines. A character that does
// not show is refused, since it could make the text look like what it is not.
func (f *fileReader) prose(n *yaml.Node, what string) string {
	text, ok := f.text(n, what)
	if !ok {
		return ""
	}
	text = strings.TrimSpace(text)
	switch i := strings.IndexFunc(text, hidden); {
	case text == "":
		f.report(at(n), "%s is blank: write a sentence or remove it", what)
	case len([]rune(text)) > maxDoc:
		f.report(at(n), "%s is longer than %d characters: write less", what, maxDoc)
	case i >= 0:
		f.report(at(n), "%s holds the character %U, which does not show: remove it", what, []rune(text[i:])[0])
	default:
		return text
	}
	return ""
}

// hidden reports whether c is a character that neither shows nor separates.
// The two joiners stay, because scripts and emoji need them.
func hidden(c rune) bool {
	return c != '\n' && c != '\t' && c != '\u200c' && c != '\u200d' && !unicode.IsGraphic(c)
}

// line returns the text of a short remark: one line.
func (f *fileReader) line(n *yaml.Node, what string) string {
	text, ok := f.text(n, what)
	if !ok {
		return ""
	}
	switch {
	case strings.TrimSpace(text) != text:
		f.report(at(n), "%s, %s, begins or ends with a space: remove it", what, quote(text))
	case strings.IndexFunc(text, func(c rune) bool { return !unicode.IsGraphic(c) }) >= 0:
		f.report(at(n), "%s, %s, holds a character that does not show: remove it", what, quote(text))
	case len([]rune(text)) > maxLine:
		f.report(at(n), "%s is longer than %d characters: write less", what, maxLine)
	default:
		return text
	}
	return ""
}
