package main

import (
	"cmp"
	"os"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	boxes "charm.land/lipgloss/v2/table"
	"github.com/freehold-dev/freehold/cmd/internal/display"
	"github.com/freehold-dev/freehold/reader"
)

// A table is rows of cells; the first row is the head.
type table [][]string

// aligned returns the table for a pipe: plain text, columns aligned, no
// trailing blanks.
func (t table) aligned() string {
	var widths []int
	for _, row := range t {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], lipgloss.Width(cell))
		}
	}
	var b strings.Builder
	for _, row := range t {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(cell)
			line.WriteString(strings.Repeat(" ", widths[i]-lipgloss.Width(cell)+2))
		}
		b.WriteString(strings.TrimRight(line.String(), " "))
		b.WriteByte('\n')
	}
	return b.String()
}

var (
	headStyle  = lipgloss.NewStyle().Bold(true)
	plainStyle = lipgloss.NewStyle()
	unsetStyle = plainStyle.Faint(true)
	goodStyle  = plainStyle.Foreground(lipgloss.Green)
	doubtStyle = plainStyle.Foreground(lipgloss.Yellow)
	alarmStyle = plainStyle.Foreground(lipgloss.Red)
)

// styleOf returns the style of a cell below head.
func styleOf(head, cell string) lipgloss.Style {
	verdict, _, _ := strings.Cut(cell, " ")
	switch {
	case cell == display.Unset || cell == none:
		return unsetStyle
	case strings.HasPrefix(cell, alarm):
		return alarmStyle
	case head != headFreshness:
		return plainStyle
	case verdict == string(reader.Fresh):
		return goodStyle
	case verdict == string(reader.Stale):
		return alarmStyle
	}
	return doubtStyle
}

// leastValue is how many cells wide a column of values may become before they are
// told apart in another way.
const leastValue = 20

// fitted returns a table for a terminal that is width cells wide: the first of
// the forms that fits if its values wrap. If none does, paragraphs is stacked.
func fitted(width int, paragraphs table, forms ...table) string {
	for _, t := range forms {
		boxed := t.boxed()
		if lipgloss.Width(boxed) <= width {
			return boxed
		}
		value := slices.Index(t[0], headValue)
		if value < 0 {
			continue
		}
		if room := width - lipgloss.Width(boxed) + t.width(value); room >= leastValue {
			return t.wrapped(value, room).boxed()
		}
	}
	return paragraphs.stacked(width)
}

// width returns how many cells the widest cell of a column has.
func (t table) width(col int) int {
	most := 0
	for _, row := range t {
		most = max(most, lipgloss.Width(row[col]))
	}
	return most
}

// wrapped returns t with the cells of a column wrapped at width.
func (t table) wrapped(col, width int) table {
	wrapped := table{t[0]}
	for _, row := range t[1:] {
		row = slices.Clone(row)
		row[col] = wrap(row[col], width)
		wrapped = append(wrapped, row)
	}
	return wrapped
}

// boxed returns the table for a terminal, as wide as its cells are.
func (t table) boxed() string {
	style := func(row, col int) lipgloss.Style {
		if row == boxes.HeaderRow {
			return headStyle.Padding(0, 1)
		}
		return styleOf(t[0][col], t[row+1][col]).Padding(0, 1)
	}
	return boxes.New().Headers(t[0]...).Rows(t[1:]...).Border(border()).StyleFunc(style).String()
}

// border returns the lines of a table: of plain characters if the user's locale
// has no others. Where no locale is set, as in many containers, terminals have.
func border() lipgloss.Border {
	locale := cmp.Or(os.Getenv("LC_ALL"), os.Getenv("LC_CTYPE"), os.Getenv("LANG"))
	encoding := strings.ReplaceAll(strings.ToLower(locale), "-", "")
	if locale == "" || strings.Contains(encoding, "utf8") {
		return lipgloss.RoundedBorder()
	}
	return lipgloss.ASCIIBorder()
}

// wrap breaks text at blanks, and within a word that is wider than width.
func wrap(text string, width int) string {
	// Dates and versions would break at their hyphens. No text for a terminal
	// has characters of private use; see visible.
	const hyphen = "\ue000"
	text = lipgloss.Wrap(strings.ReplaceAll(text, "-", hyphen), width, "")
	return strings.ReplaceAll(text, hyphen, "-")
}

// stacked returns the table for a terminal on which no table fits: a paragraph
// for each row, called after what stands before its value, and without the cells
// that have nothing to show.
func (t table) stacked(width int) string {
	title := max(slices.Index(t[0], headValue), 1)
	label := 0
	for _, head := range t[0][title:] {
		label = max(label, lipgloss.Width(head))
	}
	var lines []string
	for _, row := range t[1:] {
		lines = append(lines, headStyle.Render(wrap(strings.Join(row[:title], " "), width)))
		for i := title; i < len(row); i++ {
			if row[i] == none {
				continue
			}
			head, style := strings.ToLower(t[0][i]), styleOf(t[0][i], row[i])
			for line := range strings.SplitSeq(wrap(row[i], max(width-label-4, 1)), "\n") {
				lines = append(lines, "  "+head+strings.Repeat(" ", label-lipgloss.Width(head)+2)+style.Render(line))
				head = ""
			}
		}
	}
	return strings.Join(lines, "\n")
}
