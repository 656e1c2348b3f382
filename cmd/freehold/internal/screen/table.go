package screen

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

const (
	none  = "-"  // fills a cell that has nothing to show
	alarm = "! " // begins a cell that a person has to look at

	// Columns that a table treats in their own way.
	headVersion   = "VERSION"   // not on a narrow terminal
	headFreshness = "FRESHNESS" // its cells have colours
)

// plain returns the table for a pipe: columns aligned, no trailing blanks.
func (t table) plain() string {
	widths := make([]int, len(t[0]))
	for _, row := range t {
		for i, cell := range row {
			widths[i] = max(widths[i], lipgloss.Width(cell))
		}
	}
	var b strings.Builder
	for _, row := range t {
		line := ""
		for i, cell := range row {
			line += cell + strings.Repeat(" ", widths[i]-lipgloss.Width(cell)+2)
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

// boxed returns the table for a terminal that is width cells wide. A table that
// is too wide loses its versions, and then its cells wrap.
func (t table) boxed(width int) string {
	text := t.box().String()
	if lipgloss.Width(text) <= width {
		return text + "\n"
	}
	narrow := t.without(headVersion)
	if text = narrow.box().String(); lipgloss.Width(text) > width {
		text = narrow.box().Width(width).String()
	}
	return text + "\n"
}

// without returns t without a column.
func (t table) without(head string) (less table) {
	col := slices.Index(t[0], head)
	for _, row := range t {
		less = append(less, slices.Delete(slices.Clone(row), col, col+1))
	}
	return less
}

func (t table) box() *boxes.Table {
	style := func(row, col int) lipgloss.Style {
		if row == boxes.HeaderRow {
			return nameStyle.Padding(0, 1)
		}
		return styleOf(t[0][col], t[row+1][col]).Padding(0, 1)
	}
	return boxes.New().Headers(t[0]...).Rows(t[1:]...).Border(border()).StyleFunc(style)
}

// border returns the lines of a table: plain characters if the user's locale has
// no others. Where no locale is set, as in many containers, terminals have them.
func border() lipgloss.Border {
	locale := cmp.Or(os.Getenv("LC_ALL"), os.Getenv("LC_CTYPE"), os.Getenv("LANG"))
	encoding := strings.ReplaceAll(strings.ToLower(locale), "-", "")
	if locale == "" || strings.Contains(encoding, "utf8") {
		return lipgloss.RoundedBorder()
	}
	return lipgloss.ASCIIBorder()
}

var (
	plainStyle = lipgloss.NewStyle()
	nameStyle  = plainStyle.Bold(true)
	faintStyle = plainStyle.Faint(true)
	goodStyle  = plainStyle.Foreground(lipgloss.Green)
	doubtStyle = plainStyle.Foreground(lipgloss.Yellow)
	badStyle   = plainStyle.Foreground(lipgloss.Red)
)

// styleOf returns the style of a cell below head.
func styleOf(head, cell string) lipgloss.Style {
	verdict, _, _ := strings.Cut(cell, " ")
	switch {
	case cell == display.Unset || cell == none:
		return faintStyle
	case strings.HasPrefix(cell, alarm):
		return badStyle
	case head != headFreshness:
		return plainStyle
	case verdict == string(reader.Fresh):
		return goodStyle
	case verdict == string(reader.Stale):
		return badStyle
	}
	return doubtStyle
}
