package demo

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"charm.land/lipgloss/v2"
)

// mostColumns is how wide the story is told where there is room. A longer word
// stands alone in its line: paths and messages stay whole.
const mostColumns = 80

// A tone is how a line of the story sounds.
type tone int

const (
	plain tone = iota
	heading
	quiet
	good
	bad
)

var styles = map[tone]lipgloss.Style{
	heading: lipgloss.NewStyle().Bold(true),
	quiet:   lipgloss.NewStyle().Faint(true),
	good:    lipgloss.NewStyle().Foreground(lipgloss.Green),
	bad:     lipgloss.NewStyle().Foreground(lipgloss.Red),
}

// A line is one paragraph of the story.
type line struct {
	tone tone
	text string
}

// A screen is where the story is told. It keeps the first error.
type screen struct {
	print   func(string) error
	visible func(string) string
	colour  bool
	columns int
	err     error
}

func newScreen(o Options) *screen {
	s := &screen{print: o.Print, visible: o.Visible, colour: o.Colour, columns: mostColumns}
	if o.Width > 0 {
		s.columns = min(o.Width, mostColumns)
	}
	if s.print == nil {
		s.print = func(string) error { return nil }
	}
	if s.visible == nil {
		s.visible = func(text string) string { return text }
	}
	return s
}

// tell prints paragraphs. Where one wraps, its other lines are indented as
// far as the first, and a little more.
func (s *screen) tell(lines ...line) {
	for _, l := range lines {
		for _, text := range wrap(s.visible(l.text), s.columns) {
			s.write(l.tone, text)
		}
	}
}

// table prints rows with aligned columns, those of numbers to the right. The
// first row is the head. Where that is too wide, each cell has a line.
func (s *screen) table(rows [][]string) {
	widths, text := make([]int, len(rows[0])), make([]bool, len(rows[0]))
	for n, row := range rows {
		for i, cell := range row {
			row[i] = s.visible(cell)
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
			text[i] = text[i] || n > 0 && !isNumber(cell)
		}
	}
	width := 0
	for _, w := range widths {
		width += 2 + w
	}
	if width > s.columns {
		s.stack(rows)
		return
	}
	for n, row := range rows {
		tone := plain
		if n == 0 {
			tone = heading
		}
		var b strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if text[i] {
				cell += pad
			} else {
				cell = pad + cell
			}
			b.WriteString("  " + cell)
		}
		s.write(tone, strings.TrimRight(b.String(), " "))
	}
}

// stack prints a table whose rows are too wide, a line for each cell.
func (s *screen) stack(rows [][]string) {
	for _, row := range rows[1:] {
		s.write(heading, "  "+row[0])
		for i, cell := range row[1:] {
			for _, text := range wrap("    "+rows[0][i+1]+" "+cell, s.columns) {
				s.write(plain, text)
			}
		}
	}
}

var isNumber = regexp.MustCompile(`^[0-9]+$`).MatchString

func (s *screen) write(t tone, text string) {
	if s.err != nil {
		return
	}
	if style, ok := styles[t]; ok && s.colour && text != "" {
		text = style.Render(text)
	}
	s.err = s.print(text + "\n")
}

// wrap breaks text into lines of at most columns characters, at blanks.
func wrap(text string, columns int) []string {
	if utf8.RuneCountInString(text) <= columns {
		return []string{text}
	}
	indent := text[:len(text)-len(strings.TrimLeft(text, " "))]
	var lines []string
	line := indent
	for i, word := range strings.Fields(text) {
		if i > 0 && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > columns {
			lines = append(lines, line)
			line = indent + "  " + word
			continue
		}
		if i > 0 {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
