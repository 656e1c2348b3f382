package declare

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/freehold-dev/freehold/schema"
	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"
)

// A Problem is one mistake in an owners.yaml.
type Problem struct {
	// File is the name that was given to [Parse].
	File string
	// Line and Col count from 1; a column is a character, not a byte.
	Line, Col int
	// The mistake and its remedy.
	What string
}

// Error returns "owners.yaml:LINE:COL: mistake: remedy".
func (p Problem) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Col, p.What)
}

// Problems are all mistakes of one file, in the order of the file. An error of
// this type is never empty.
type Problems []Problem

// Error returns one line for each problem.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, problem := range p {
		lines[i] = problem.Error()
	}
	return strings.Join(lines, "\n")
}

// A place is a position in the file.
type place struct{ line, col int }

func position(n *yaml.Node) place { return place{n.Line, n.Column} }

// A reporter collects the problems of one file.
type reporter struct {
	file     string
	root     *yaml.Node
	problems Problems
	// doubtful holds the parts that were misread. A rule's problem with one
	// would follow from that.
	doubtful map[jsontext.Pointer]bool
}

// reportAt reports a problem of the text.
func (r *reporter) reportAt(at place, format string, args ...any) {
	r.problems = append(r.problems, Problem{r.file, at.line, at.col, fmt.Sprintf(format, args...)})
}

// misread reports that n is not the YAML of the part at a place.
func (r *reporter) misread(at jsontext.Pointer, n *yaml.Node, format string, args ...any) {
	r.doubtful[at] = true
	r.reportAt(position(n), format, args...)
}

// report reports a problem of the part at a place.
func (r *reporter) report(at jsontext.Pointer, format string, args ...any) {
	r.take(schema.Problem{At: at, Format: format, Args: args})
}

// take reports a problem of the declaration, unless the part was misread.
func (r *reporter) take(p schema.Problem) {
	for at := p.At; ; at = at.Parent() {
		if r.doubtful[at] {
			return
		}
		if at == "" {
			break
		}
	}
	at, _ := r.find(p.At)
	r.problems = append(r.problems, Problem{r.file, at.line, at.col, p.Text(r.cite)})
}

// cite spells the place of another part.
func (r *reporter) cite(at jsontext.Pointer) string {
	p, _ := r.find(at)
	return fmt.Sprintf("%s:%d:%d", r.file, p.line, p.col)
}

// find returns the place of a part: of the key, if its name is free, else of
// the value. Of a part that the file does not have, it returns false and the
// place of the nearest part above.
func (r *reporter) find(at jsontext.Pointer) (p place, ok bool) {
	n, p, free := r.root, position(r.root), false
	for token := range at.Tokens() {
		key, value := member(n, token)
		if n.Kind == yaml.SequenceNode {
			i, err := strconv.Atoi(token)
			if err != nil || i >= len(n.Content) {
				return p, false
			}
			value = n.Content[i]
		}
		switch {
		case value == nil:
			return p, false
		case free:
			n, p, free = value, position(key), false
		default:
			n, p, free = value, position(value), slices.Contains([]string{"owners", "fields", "record"}, token)
		}
	}
	return p, true
}

// has reports whether the file has the part.
func (r *reporter) has(at jsontext.Pointer) bool {
	_, ok := r.find(at)
	return ok
}

// isEmpty reports whether the part is an empty mapping, or nothing.
func (r *reporter) isEmpty(at jsontext.Pointer) bool {
	n := r.root
	for token := range at.Tokens() {
		_, n = member(n, token)
	}
	return n != nil && (isNull(n) || n.Kind == yaml.MappingNode && len(n.Content) == 0)
}

// err returns the collected problems in file order, or nil.
func (r *reporter) err() error {
	if len(r.problems) == 0 {
		return nil
	}
	slices.SortStableFunc(r.problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col), strings.Compare(a.What, b.What))
	})
	return r.problems
}

// member returns the key and the value of an entry of the mapping n, or nil.
func member(n *yaml.Node, name string) (key, value *yaml.Node) {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil, nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return n.Content[i], n.Content[i+1]
		}
	}
	return nil, nil
}
