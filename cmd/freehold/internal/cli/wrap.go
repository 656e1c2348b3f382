package cli

import (
	"regexp"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/freehold-dev/freehold/cmd/internal/display"
)

// Prose returns lines of text for standard output. On a terminal a long line is
// broken at blanks, and goes on as far to the right as it began. A wider word,
// such as a path, stays whole, and so does a command in backquotes: the terminal
// breaks those itself, and they can be copied.
func (c *Call) Prose(text string) string {
	width, terminal := c.Terminal()
	if !terminal {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		body := strings.TrimLeft(line, " ")
		indent := line[:len(line)-len(body)]
		lines[i] = indent + strings.Join(words(body, width-len(indent)), "\n"+indent)
	}
	return strings.Join(lines, "\n")
}

// Hanging returns head and text, in one line for a pipe. On a terminal that is not wide
// enough, the words of the text that do not fit follow below, behind indent.
func (c *Call) Hanging(head, text, indent string) string {
	width, terminal := c.Terminal()
	if !terminal || ansi.StringWidth(head+text) <= width {
		return head + text + "\n"
	}
	return head + strings.Join(words(text, width-max(ansi.StringWidth(head), len(indent))), "\n"+indent) + "\n"
}

var (
	unbroken = regexp.MustCompile("`[^`\n]*`|\\S{1,14}, process [0-9]+|-")
	// No text for a terminal has characters of private use.
	protect = strings.NewReplacer(" ", "\ue000", "-", "\ue001")
	restore = strings.NewReplacer("\ue000", " ", "\ue001", "-")
)

// words breaks a line at blanks, into lines of width where its words let that.
func words(line string, width int) []string {
	line = unbroken.ReplaceAllStringFunc(line, protect.Replace)
	return strings.Split(strings.TrimPrefix(restore.Replace(ansi.Wordwrap(line, max(width, 1), "")), "\n"), "\n")
}

// Wrap breaks a line at blanks, so that no part is wider than width. A wider word
// is cut, behind a comma if that is near, but never inside an instant.
func Wrap(line string, width int) (parts []string) {
	for _, part := range words(line, width) {
		for ansi.StringWidth(part) > width {
			end := cut(part, width)
			parts, part = append(parts, part[:end]), part[end:]
		}
		if part != "" || len(parts) == 0 {
			parts = append(parts, part)
		}
	}
	return parts
}

// cut returns the length of the first part of a word that is wider than width.
func cut(word string, width int) int {
	end := len(ansi.Truncate(word, width, ""))
	if comma := strings.LastIndexByte(word[:end], ',') + 1; comma > end/2 {
		end = comma
	}
	for _, at := range display.Instants().FindAllStringIndex(word, -1) {
		if at[0] < end && end < at[1] {
			end = at[0]
			if end == 0 {
				end = at[1]
			}
		}
	}
	if end == 0 { // one character is wider than that
		return len(word)
	}
	return end
}

// Least returns the width that Wrap needs for text without a cut in a word of
// usual length, or in an instant.
func Least(text string) (width int) {
	const most = 24 // cells of a word that stays whole
	for _, word := range strings.Fields(text) {
		width = max(width, min(ansi.StringWidth(word), most))
		for _, whole := range display.Instants().FindAllString(word, -1) {
			width = max(width, len(whole))
		}
	}
	return width
}
