package cli

import (
	"strings"

	"charm.land/lipgloss/v2"
)

// Prose returns lines of text for standard output. For a terminal each is broken
// at blanks where it would not fit, and goes on as far to the right as it began. A
// word that is wider, such as a path, stays whole, and so does a command in
// backquotes: the terminal breaks those itself, and they can be copied.
func (c *Call) Prose(text string) string {
	width, terminal := c.Terminal()
	if !terminal {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		broken(&b, strings.TrimSuffix(line, "\n"), width)
		b.WriteByte('\n')
	}
	return b.String()
}

// broken writes one line as several of at most width cells.
func broken(b *strings.Builder, line string, width int) {
	text := strings.TrimLeft(line, " ")
	indent := line[:len(line)-len(text)]
	used := 0
	for _, word := range proseWords(text) {
		size := lipgloss.Width(word)
		switch {
		case used == 0:
			b.WriteString(indent)
			used = len(indent) + size
		case used+1+size > width:
			b.WriteString("\n" + indent)
			used = len(indent) + size
		default:
			b.WriteByte(' ')
			used += 1 + size
		}
		b.WriteString(word)
	}
}

// proseWords splits a line at its blanks, but for those between backquotes.
func proseWords(line string) (words []string) {
	quoted, start := false, 0
	for i, at := range line {
		switch {
		case at == '`':
			quoted = !quoted
		case at == ' ' && !quoted:
			words = append(words, line[start:i])
			start = i + 1
		}
	}
	return append(words, line[start:])
}
