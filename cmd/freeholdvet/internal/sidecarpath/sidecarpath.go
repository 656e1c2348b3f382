package sidecarpath

import (
	_ "embed"
	"go/ast"
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/check"
	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/fileio"
	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/generated"
)

//go:embed doc.go
var doc string

// Analyzer is the check.
var Analyzer = check.New("sidecarpath", doc, run)

// private is the directory of a state that is nobody's but the library's.
const private = ".freehold"

func run(pass *check.Pass) {
	if !fileio.Imported(pass.Pkg) || generated.Within(pass.Pkg.Path(), generated.Sidecar) {
		return
	}
	c := &checker{Pass: pass, tracer: fileio.NewTracer(pass.TypesInfo, pass.Files)}
	for file := range pass.ByHand() {
		for n := range ast.Preorder(file) {
			if call, ok := n.(*ast.CallExpr); ok {
				c.call(call)
			}
		}
	}
}

type checker struct {
	*check.Pass
	tracer *fileio.Tracer
	owners map[string]owner // by the name of the sidecar; nil until needed
}

func (c *checker) call(call *ast.CallExpr) {
	for _, access := range c.tracer.Accesses(call) {
		if access.Op == fileio.Read || access.Op == fileio.Open {
			continue
		}
		elements, last := c.tracer.Of(access.Root, access.Path, nil).Elements()
		if slices.Contains(elements, private) {
			c.Findf(access.Path, "only the library may write in %s: call `freehold state repair` or the verbs of an owner's home", private)
			continue
		}
		if o, ok := c.owner(last); ok {
			c.Findf(access.Path, "%s is the sidecar of owner %s, as %s declares, and writing it makes it foreign: call a verb that %s exports, or allow it if this is another file",
				last, o.name, o.file, o.home)
		}
	}
}

// owner returns the owner of the sidecar of this name. The declarations are
// looked for only where some file of such a name is written.
func (c *checker) owner(sidecar string) (owner, bool) {
	if !strings.HasSuffix(sidecar, ".json") {
		return owner{}, false
	}
	if c.owners == nil {
		c.owners = declared(c.Fset.Position(c.Files[0].Package).Filename)
	}
	o, ok := c.owners[sidecar]
	return o, ok
}
