package check

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// An allowance is one //freehold:allow comment.
type allowance struct {
	comment *ast.Comment
	check   string
	reason  string
	file    string
	lines   [2]int // the first and the last line that the allowance covers
	used    bool
}

// allowances returns the allowances in the package's files that name check, or
// all if check is empty.
func allowances(pass *analysis.Pass, check string) []*allowance {
	var all []*allowance
	for _, file := range pass.Files {
		for _, group := range file.Comments {
			for _, comment := range group.List {
				a, ok := parse(comment)
				if !ok || check != "" && a.check != check {
					continue
				}
				at := pass.Fset.Position(comment.Pos())
				a.file, a.lines = at.Filename, [2]int{at.Line, at.Line}
				if alone(pass, at) {
					a.lines[1] = pass.Fset.Position(group.End()).Line + 1
				}
				all = append(all, a)
			}
		}
	}
	return all
}

// parse reads "//freehold:allow CHECK REASON". The reason ends before another "//".
func parse(comment *ast.Comment) (*allowance, bool) {
	d, ok := ast.ParseDirective(comment.Pos(), comment.Text)
	if !ok || d.Tool != "freehold" || d.Name != "allow" {
		return nil, false
	}
	args, _, _ := strings.Cut(d.Args, "//")
	check, reason, _ := strings.Cut(strings.TrimSpace(args), " ")
	return &allowance{comment: comment, check: check, reason: strings.TrimSpace(reason)}, true
}

// alone reports whether only blanks stand before the comment in its line.
func alone(pass *analysis.Pass, at token.Position) bool {
	text, err := pass.ReadFile(at.Filename)
	if err != nil || at.Offset > len(text) {
		return false
	}
	before := text[:at.Offset]
	line := before[strings.LastIndexByte(string(before), '\n')+1:]
	return strings.TrimSpace(string(line)) == ""
}

// allows reports whether a comment with a reason allows a finding at pos.
// Without a reason, the finding and the comment are both to be mended.
func (p *Pass) allows(pos token.Pos) bool {
	at := p.Fset.Position(pos)
	for _, a := range p.allowed {
		if a.file == at.Filename && a.lines[0] <= at.Line && at.Line <= a.lines[1] {
			a.used = true
			if a.reason != "" {
				return true
			}
		}
	}
	return false
}

// reportUnused reports the allowances that no finding has met.
func (p *Pass) reportUnused() {
	for _, a := range p.allowed {
		if !a.used {
			p.Report(analysis.Diagnostic{Pos: a.comment.Pos(), End: a.comment.End(),
				Message: p.Analyzer.Name + " finds nothing here: remove the allowance"})
		}
	}
}

// Allow returns a check that every allowance names one of the given checks and
// has a reason.
func Allow(checks []*analysis.Analyzer) *analysis.Analyzer {
	var names []string
	for _, c := range checks {
		names = append(names, c.Name)
	}
	slices.Sort(names)
	return &analysis.Analyzer{
		Name: "allow",
		Doc: `reports comments that allow a finding and do not say which or why

	//freehold:allow readmodifywrite                             WRONG: why?

	//freehold:allow readmodifywrite it is this test's own file  RIGHT

An allowance that has nothing to allow is reported by the check that it names.`,
		Run: func(pass *analysis.Pass) (any, error) {
			for _, a := range allowances(pass, "") {
				switch {
				case !slices.Contains(names, a.check):
					pass.ReportRangef(a.comment, "freeholdvet has no check %q: name one of %s", a.check, strings.Join(names, ", "))
				case a.reason == "":
					pass.ReportRangef(a.comment, "an allowance without a reason is none: say why after %q", a.check)
				}
			}
			return nil, nil
		},
	}
}
