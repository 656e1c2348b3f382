package readmodifywrite

import (
	_ "embed"
	"fmt"
	"go/ast"
	"path/filepath"

	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/check"
	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/fileio"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/inspector"
)

//go:embed doc.go
var doc string

// Analyzer is the check.
var Analyzer = check.New("readmodifywrite", doc, run)

func run(pass *check.Pass) {
	if !fileio.Imported(pass.Pkg) {
		return
	}
	c := &checker{
		Pass:    pass,
		tracer:  fileio.NewTracer(pass.TypesInfo, pass.Files),
		root:    inspector.New(pass.Files).Root(),
		touches: map[*ast.BlockStmt]bool{},
	}
	for file := range pass.ByHand() {
		for _, decl := range file.Decls {
			for body := range bodies(decl) {
				c.function(body)
			}
		}
	}
}

// A checker checks the functions of one package.
type checker struct {
	*check.Pass
	tracer  *fileio.Tracer
	root    inspector.Cursor
	touches map[*ast.BlockStmt]bool // whether a function accesses files
}

// bodies yields the body of a function, or those of the function literals that
// variables are set to.
func bodies(decl ast.Decl) func(yield func(*ast.BlockStmt) bool) {
	return func(yield func(*ast.BlockStmt) bool) {
		if fn, ok := decl.(*ast.FuncDecl); ok {
			if fn.Body != nil {
				yield(fn.Body)
			}
			return
		}
		more := true
		ast.Inspect(decl, func(n ast.Node) bool {
			lit, ok := n.(*ast.FuncLit)
			if ok && more {
				more = yield(lit.Body)
			}
			return !ok && more
		})
	}
}

// function reports each file that a function reads and then rewrites, once.
func (c *checker) function(body *ast.BlockStmt) {
	reported := map[string]bool{}
	events := c.events(body, nil, 0)
	for _, write := range events {
		if write.op != fileio.Replace || reported[write.path.Text] {
			continue
		}
		for _, read := range events {
			if read.op == fileio.Read && read.path.Text == write.path.Text && c.reaches(body, read, write) {
				reported[write.path.Text] = true
				c.report(read, write)
				break
			}
		}
	}
}

func (c *checker) report(read, write event) {
	at := c.Fset.Position(read.call.Pos())
	c.Find(analysis.Diagnostic{
		Pos: write.call.Pos(),
		End: write.call.End(),
		Message: fmt.Sprintf("this rewrites the file that was read at %s:%d, so what another process writes in between is lost: declare its fields in owners.yaml and write through their owner's Update, or allow it and say why nobody else writes the file",
			filepath.Base(at.Filename), at.Line),
		Related: []analysis.RelatedInformation{{Pos: read.call.Pos(), End: read.call.End(), Message: "read here"}},
	})
}
