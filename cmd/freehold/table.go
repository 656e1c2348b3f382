package main

import (
	"strings"

	"charm.land/lipgloss/v2"
	boxes "charm.land/lipgloss/v2/table"
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
	headStyle  = lipgloss.NewStyle().Bold(true).Padding(0, 1)
	cellStyle  = lipgloss.NewStyle().Padding(0, 1)
	unsetStyle = cellStyle.Faint(true)
	alarmStyle = cellStyle.Foreground(lipgloss.Red)
)

// boxed returns the table for a terminal that is width cells wide: where it
// does not fit, its cells wrap.
func (t table) boxed(width int) string {
	style := func(row, col int) lipgloss.Style {
		switch {
		case row == boxes.HeaderRow:
			return headStyle
		case t[row+1][col] == unset || t[row+1][col] == none:
			return unsetStyle
		case strings.HasPrefix(t[row+1][col], alarm):
			return alarmStyle
		}
		return cellStyle
	}
	make := func() *boxes.Table {
		return boxes.New().Headers(t[0]...).Rows(t[1:]...).Border(lipgloss.RoundedBorder()).StyleFunc(style).Wrap(true)
	}
	natural := make().String()
	if lipgloss.Width(natural) <= width {
		return natural
	}
	return make().Width(width).String()
}
