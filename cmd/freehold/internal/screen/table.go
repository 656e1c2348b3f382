package screen

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/freehold-dev/freehold/cmd/freehold/internal/cli"
	"github.com/freehold-dev/freehold/cmd/internal/display"
	"github.com/freehold-dev/freehold/reader"
)

// A table is rows of cells; the first row is the head.
type table [][]string

const (
	none  = "-"  // fills a cell that has nothing to show
	alarm = "! " // begins a cell that a person has to look at
	gap   = "  " // between two columns

	headOwner     = "OWNER" // on a terminal once for its rows
	headField     = "FIELD"
	headValue     = "VALUE"
	headAge       = "AGE"
	headWho       = "WHO"
	headVersion   = "VERSION" // not on a narrow terminal
	headFreshness = "FRESHNESS"
	headStatus    = "STATUS"
	headWritten   = "WRITTEN"
)

// plain returns the table for a pipe: a line for each row, columns aligned, no
// trailing blanks.
func (t table) plain() string { return t.lines(t.widths(ansi.StringWidth)) }

// fitted returns the table for a terminal that is width cells wide. A table that
// is too wide loses its versions, then its texts wrap, and then each row becomes a
// paragraph.
func (t table) fitted(width int) string {
	t = t.grouped()
	natural := t.widths(ansi.StringWidth)
	if total(natural) > width {
		t = t.without(headVersion)
		natural = t.widths(ansi.StringWidth)
	}
	least := t.widths(cli.Least)
	for col := range natural {
		if excess := total(natural) - width; excess > 0 && slices.Contains([]string{headOwner, headValue, headWho, headFreshness}, t[0][col]) {
			natural[col] = max(natural[col]-excess, least[col], len(t[0][col]))
		}
	}
	if total(natural) > width {
		return t.paragraphs(width)
	}
	return t.lines(natural)
}

// widths returns the greatest measure of each column's cells.
func (t table) widths(measure func(string) int) []int {
	all := make([]int, len(t[0]))
	for _, row := range t {
		for col, cell := range row {
			all[col] = max(all[col], measure(cell))
		}
	}
	return all
}

// total returns the width of columns with the gaps between them.
func total(widths []int) int {
	sum := len(gap) * (len(widths) - 1)
	for _, w := range widths {
		sum += w
	}
	return sum
}

// grouped returns t with the first cell of its rows only where that changes.
func (t table) grouped() table {
	last := ""
	all := slices.Clone(t)
	for i, row := range all {
		if row[0] == last {
			all[i] = slices.Concat([]string{""}, row[1:])
		}
		last = row[0]
	}
	return all
}

// without returns t without a column.
func (t table) without(head string) (less table) {
	col := slices.Index(t[0], head)
	if col < 0 {
		return t
	}
	for _, row := range t {
		less = append(less, slices.Delete(slices.Clone(row), col, col+1))
	}
	return less
}

// lines returns t with columns of these widths.
func (t table) lines(widths []int) string {
	var b strings.Builder
	for i, row := range t {
		parts, height := make([][]string, len(row)), 0
		for col, cell := range row {
			parts[col] = cli.Wrap(cell, widths[col])
			height = max(height, len(parts[col]))
		}
		for n := range height {
			blanks := ""
			for col, cell := range row {
				part := ""
				if n < len(parts[col]) {
					part = parts[col][n]
				}
				if part != "" {
					b.WriteString(blanks + look(t[0][col], cell, i == 0).Render(part))
					blanks = ""
				}
				blanks += strings.Repeat(" ", widths[col]-ansi.StringWidth(part)+len(gap))
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// paragraphs returns t for a terminal on which its columns have no room: below each
// owner its rows, with the value beside the field where that fits.
func (t table) paragraphs(width int) string {
	p := paragraph{width: width}
	for _, row := range t[1:] {
		if row[0] != "" {
			p.add("", row[0], cli.Strong)
			p.end()
		}
		for col, cell := range row[1:] {
			head := t[0][col+1]
			switch look := look(head, cell, false); {
			case head == headField || head == headStatus:
				p.add("  ", cell, look)
			case head == headValue:
				p.add("    ", cell, look)
				p.end()
			case cell == none:
			case head == headAge && cell != ahead:
				p.add("    ", cell+" ago", cli.Plain)
			case head == headWho:
				p.add("    ", "by "+cell, cli.Plain)
			case head == headWritten:
				p.add("    ", "written "+cell, cli.Plain)
			default:
				p.add("    ", cell, look)
			}
		}
		p.end()
	}
	return p.text.String()
}

// A paragraph is lines of texts, as many on each as fit.
type paragraph struct {
	text  strings.Builder
	width int
	used  int // cells of the line that is not ended
}

// add adds a text, on a new line with indent unless there is room.
func (p *paragraph) add(indent, text string, look cli.Look) {
	if p.used > 0 && p.used+len(gap)+ansi.StringWidth(text) <= p.width {
		p.text.WriteString(gap + look.Render(text))
		p.used += len(gap) + ansi.StringWidth(text)
		return
	}
	for _, part := range cli.Wrap(text, p.width-len(indent)) {
		p.end()
		p.text.WriteString(indent + look.Render(part))
		p.used = len(indent) + ansi.StringWidth(part)
	}
}

// end ends the line, if one has begun.
func (p *paragraph) end() {
	if p.used > 0 {
		p.text.WriteByte('\n')
	}
	p.used = 0
}

// look returns the look of a cell below a head, or of the head.
func look(head, cell string, isHead bool) cli.Look {
	verdict, _, _ := strings.Cut(cell, " ")
	switch {
	case isHead || head == headOwner:
		return cli.Strong
	case cell == display.Unset || cell == none || head == headAge || head == headVersion:
		return cli.Faint
	case strings.HasPrefix(cell, alarm):
		return cli.Bad
	case head != headFreshness:
		return cli.Plain
	case verdict == string(reader.Fresh):
		return cli.Good
	case verdict == string(reader.Stale):
		return cli.Bad
	}
	return cli.Doubt
}
