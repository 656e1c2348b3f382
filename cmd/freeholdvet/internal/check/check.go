// Package check holds the common part of freeholdvet's checks: a check's help is
// the doc.go of its package, and a comment with a reason allows a finding. The
// package does not know any check.
//
// # Allowing
//
// A finding is allowed by a comment at the end of its line, or on lines of its
// own above it, that names the check and says why:
//
//	//freehold:allow readmodifywrite only this program's installer runs, once
//	err = os.WriteFile(path, text, 0o600)
//
// An allowance without a reason, for a check that does not exist, or where
// there is nothing to allow any more is a finding itself.
package check

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"

	"github.com/freehold-dev/freehold/gen"
	"golang.org/x/tools/go/analysis"
)

// A Pass is one check of one package.
type Pass struct {
	*analysis.Pass
	allowed []*allowance
	when    string
}

// New returns the check of this name. The package comment in doc, the text of
// the package's doc.go, becomes the help, without the words "Package name". Each
// finding ends with the comment that allows it and with when, the case in which that
// is right: "where nothing depends on the outcome". New panics if there is no such
// package comment.
func New(name, doc, when string, run func(*Pass), requires ...*analysis.Analyzer) *analysis.Analyzer {
	return &analysis.Analyzer{
		Name:     name,
		Doc:      help(name, doc),
		Requires: requires,
		Run: func(pass *analysis.Pass) (any, error) {
			p := &Pass{Pass: pass, allowed: allowances(pass, name), when: when}
			run(p)
			p.reportUnused()
			return nil, nil
		},
	}
}

// help returns the package comment in doc as go vet shows it.
func help(name, doc string) string {
	file, err := parser.ParseFile(token.NewFileSet(), "doc.go", doc, parser.ParseComments|parser.PackageClauseOnly)
	if err != nil {
		panic(err)
	}
	text, ok := strings.CutPrefix(file.Doc.Text(), "Package "+name+" ")
	if !ok {
		panic("doc.go of " + name + " has no package comment")
	}
	return text
}

// Findf reports a finding at n unless a comment allows the finding. The message
// ends with the remedy.
func (p *Pass) Findf(n analysis.Range, format string, args ...any) {
	p.Find(analysis.Diagnostic{Pos: n.Pos(), End: n.End(), Message: fmt.Sprintf(format, args...)})
}

// Find is [Pass.Findf] for a whole diagnostic.
func (p *Pass) Find(d analysis.Diagnostic) {
	if !p.allows(d.Pos) {
		d.Message += "; " + p.when + ", allow it: //freehold:allow " + p.Analyzer.Name + " REASON"
		p.Report(d)
	}
}

// ByHand reports whether pos is in a file that a person wrote for use and not
// for a test: a test damages files on purpose, and its own.
func (p *Pass) ByHand(pos token.Pos) bool {
	for _, file := range p.Files {
		if file.FileStart <= pos && pos <= file.FileEnd {
			return !p.IsTest(pos) && !p.IsGenerated(file)
		}
	}
	return false
}

// IsTest reports whether pos is in a test's file.
func (p *Pass) IsTest(pos token.Pos) bool {
	return strings.HasSuffix(p.Fset.Position(pos).Filename, "_test.go")
}

// IsGenerated reports whether the mark in the first line says that Freehold
// generated the file. `freehold gen --check` tells true marks from others.
func (p *Pass) IsGenerated(file *ast.File) bool {
	if len(file.Comments) == 0 || file.Comments[0].Pos() != file.FileStart {
		return false
	}
	return gen.Generated("x.go", []byte(file.Comments[0].List[0].Text))
}
