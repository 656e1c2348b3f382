package sidecarpath

import (
	_ "embed"
	"go/ast"
	"go/types"
	"iter"
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/check"
	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/fileio"
	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/generated"
	"golang.org/x/tools/go/analysis"
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
	for path, at := range c.changes(call, nil) {
		if shown(c.tracer.Selected(at)) {
			c.Findf(at, "the view says where the sidecar of an owner is, and writing it makes it foreign: call a verb that the owner's home exports, or run `freehold quarantine`")
			continue
		}
		c.check(path, at)
	}
	if c.names(call) {
		for path := range c.within(call, nil, 0) {
			c.check(path, call)
		}
	}
}

// check reports at a place that the file of a path is written, if only its
// owner may.
func (c *checker) check(path fileio.Path, at analysis.Range) {
	elements, last := path.Elements()
	if slices.Contains(elements, private) {
		c.Findf(at, "only the library may write in %s: call `freehold state repair` or the verbs of an owner's home", private)
		return
	}
	if o, ok := c.owner(last); ok {
		c.Findf(at, "%s is the sidecar of owner %s, as %s declares, and writing it makes it foreign: call a verb that %s exports, or allow it if this is another file",
			last, o.name, o.file, o.home)
	}
}

// shown reports whether obj is the path of a sidecar in what package reader shows.
func shown(obj types.Object) bool {
	return obj != nil && obj.Name() == "File" && obj.Pkg() != nil && obj.Pkg().Path() == generated.Library+"/reader"
}

// changes yields the paths that the call itself writes, each with the
// expression that names it.
func (c *checker) changes(call *ast.CallExpr, env fileio.Env) iter.Seq2[fileio.Path, ast.Expr] {
	return func(yield func(fileio.Path, ast.Expr) bool) {
		for _, access := range c.tracer.Accesses(call) {
			if access.Op == fileio.Read || access.Op == fileio.Open {
				continue
			}
			for _, turn := range c.tracer.Turns(c.tracer.Of(access.Root, access.Path, env), env) {
				if !yield(c.tracer.Of(access.Root, access.Path, turn), access.Path) {
					return
				}
			}
		}
		for _, path := range c.tracer.Commands(call, env) {
			if !yield(path, call) {
				return
			}
		}
	}
}

// told returns the names of the files that the call writes whatever it is given:
// that is reported where it stands.
func (c *checker) told(call *ast.CallExpr) (names []string) {
	for path := range c.changes(call, nil) {
		if _, name := path.Elements(); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// names reports whether an argument of the call tells something of a file's
// name, which the function that is called may write.
func (c *checker) names(call *ast.CallExpr) bool {
	return slices.ContainsFunc(call.Args, func(arg ast.Expr) bool {
		t, ok := c.TypesInfo.TypeOf(arg).(*types.Basic)
		if !ok || t.Info()&types.IsString == 0 {
			return false
		}
		constant, _ := c.tracer.Of(nil, arg, nil).Elements()
		return len(constant) > 0
	})
}

// deepest bounds how far calls of functions of the package are followed.
const deepest = 3

// within yields the paths that the function of this package which call calls
// writes because of what it is given.
func (c *checker) within(call *ast.CallExpr, env fileio.Env, depth int) iter.Seq[fileio.Path] {
	return func(yield func(fileio.Path) bool) {
		fn, _ := c.tracer.Callee(call)
		if fn == nil || c.tracer.Decl(fn) == nil || depth == deepest {
			return
		}
		env := c.tracer.Bind(fn, call, env)
		for n := range ast.Preorder(c.tracer.Decl(fn).Body) {
			inner, ok := n.(*ast.CallExpr)
			if !ok {
				continue
			}
			told := c.told(inner)
			for path := range c.changes(inner, env) {
				if _, name := path.Elements(); !slices.Contains(told, name) && !yield(path) {
					return
				}
			}
			for path := range c.within(inner, env, depth+1) {
				if !yield(path) {
					return
				}
			}
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
