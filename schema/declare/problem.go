package declare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A Problem is one mistake in an owners.yaml.
type Problem struct {
	// File is the name that was given to [Parse].
	File string
	// Line and Col count from 1; a column is a character, not a byte.
	Line, Col int
	// What is wrong, and what to do.
	What string
}

// Error returns "owners.yaml:LINE:COL: what, and what to do".
func (p Problem) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Col, p.What)
}

// Problems are all mistakes of one file, in the order of the file. An error
// of this type is never empty.
type Problems []Problem

// Error returns one line for each problem.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, problem := range p {
		lines[i] = problem.Error()
	}
	return strings.Join(lines, "\n")
}

// A place is a position in the file. The zero place is nowhere in it: what
// stands there was not declared by the user.
type place struct{ line, col int }

func (p place) compare(q place) int {
	return cmp.Or(cmp.Compare(p.line, q.line), cmp.Compare(p.col, q.col))
}

// A reporter collects the problems of one file.
type reporter struct {
	file     string
	problems Problems
}

func (r *reporter) report(at place, format string, args ...any) {
	r.problems = append(r.problems, Problem{r.file, at.line, at.col, fmt.Sprintf(format, args...)})
}

// cite returns p as a message names it that stands at another place.
func (r *reporter) cite(p place) string { return fmt.Sprintf("%s:%d:%d", r.file, p.line, p.col) }

// err returns the collected problems in file order, or nil.
func (r *reporter) err() error {
	if len(r.problems) == 0 {
		return nil
	}
	slices.SortStableFunc(r.problems, func(a, b Problem) int {
		return cmp.Or(place{a.Line, a.Col}.compare(place{b.Line, b.Col}), strings.Compare(a.What, b.What))
	})
	return r.problems
}

// quote returns text from the file as a message shows it: quoted, so that
// nothing in it acts on a terminal, and cut to a length that fits a line.
func quote(text string) string {
	const most = 40
	if runes := []rune(text); len(runes) > most {
		return fmt.Sprintf("%q…", string(runes[:most]))
	}
	return fmt.Sprintf("%q", text)
}

// list returns the words as a sentence lists them: "a, b and c".
func list(words []string, last string) string {
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " " + last + " " + words[n-1]
	}
	return strings.Join(words, "")
}
