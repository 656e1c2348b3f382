package readmodifywrite

import (
	_ "embed"
	"fmt"
	"path/filepath"

	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/check"
	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/fileflow"
	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/program"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"
)

//go:embed doc.go
var doc string

// Analyzer is the check.
var Analyzer = check.New("readmodifywrite", doc, "where no other process writes the file", run, program.Analyzer)

func run(pass *check.Pass) {
	if !fileflow.Imported(pass.Pkg) {
		return
	}
	p := pass.ResultOf[program.Analyzer].(*program.Package)
	c := &checker{pass, fileflow.NewTracer(p)}
	for _, fn := range p.Functions {
		c.function(fn)
	}
}

// A checker checks the functions of one package.
type checker struct {
	*check.Pass
	*fileflow.Tracer
}

// function reports each file that a function reads and then rewrites, once.
func (c *checker) function(fn *ssa.Function) {
	events := c.Events(fn)
	reported := map[string]bool{}
	for _, write := range events {
		if write.Op != fileflow.Replace || write.Hidden || !c.ByHand(write.Call.Pos()) {
			continue
		}
		for _, read := range events {
			if read.Op != fileflow.Read || read.Hidden {
				continue
			}
			if text := read.Text(nil); !reported[text] && c.reaches(read, write) {
				reported[text] = true
				c.report(read, write)
				break
			}
		}
	}
}

func (c *checker) report(read, write fileflow.Event) {
	at, call := c.Syntax(read.Call), c.Syntax(write.Call)
	from := c.Fset.Position(at.Pos())
	c.Find(analysis.Diagnostic{
		Pos: call.Pos(),
		End: call.End(),
		Message: fmt.Sprintf("this rewrites the file that was read at %s:%d, so another process's write in between is lost: declare the file's fields in owners.yaml and write through their owner's Update",
			filepath.Base(from.Filename), from.Line),
		Related: []analysis.RelatedInformation{{Pos: at.Pos(), End: at.End(), Message: "read here"}},
	})
}
