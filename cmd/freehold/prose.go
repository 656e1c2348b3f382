package main

import (
	"strings"

	"charm.land/lipgloss/v2"
)

// prose returns lines of text for standard output. For a terminal each is broken
// at blanks where it would not fit, and goes on as far to the right as it began. A
// word that is wider, such as a path, stays whole, and so does a command in
// backquotes: the terminal breaks those itself, and they can be copied.
func (c *cli) prose(text string) string {
	width, terminal := c.terminal()
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

// proseWords splits a line at its blanks, but for those in a command.
func proseWords(line string) (words []string) {
	for len(line) > 0 {
		end := strings.IndexByte(line, ' ')
		if at := strings.Index(line, recommends); at >= 0 && at < max(end, 0) {
			end = at + len(recommends)
			if _, after, ok := commandWords(line[end:]); ok {
				end = len(line) - len(after)
			}
			if blank := strings.IndexByte(line[end:], ' '); blank >= 0 {
				end += blank
			} else {
				end = len(line)
			}
		}
		if end < 0 {
			end = len(line)
		}
		words = append(words, line[:end])
		line = strings.TrimPrefix(line[end:], " ")
	}
	return words
}
