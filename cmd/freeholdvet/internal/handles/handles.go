package handles

import (
	_ "embed"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/check"
	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/fileio"
	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/generated"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/types/typeutil"
)

//go:embed doc.go
var doc string

// Analyzer is the check.
var Analyzer = check.New("handles", doc, run)

func run(pass *check.Pass) {
	if !slices.ContainsFunc(pass.Pkg.Imports(), func(p *types.Package) bool { return p.Path() == "unsafe" || p.Path() == "reflect" }) {
		return
	}
	prying := prying(pass)
	c := &checker{Pass: pass, tracer: fileio.NewTracer(pass.TypesInfo, pass.Files)}
	for _, file := range pass.Files {
		linknames(pass, file)
		for n := range ast.Preorder(file) {
			switch n := n.(type) {
			case *ast.CallExpr:
				c.calls(n)
			case *ast.Ident:
				if how := prying[pass.TypesInfo.Uses[n]]; how != "" {
					instance(pass, n, how)
				}
			}
		}
	}
}

type checker struct {
	*check.Pass
	tracer *fileio.Tracer
}

// prying returns the generic functions of the package that use unsafe or
// reflect, and which: they may use it on a type that they are given.
func prying(pass *check.Pass) map[types.Object]string {
	all := map[types.Object]string{}
	for _, file := range pass.Files {
		for _, decl := range file.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Type.TypeParams != nil && fn.Body != nil {
				all[pass.TypesInfo.Defs[fn.Name]] = pries(pass.TypesInfo, fn.Body)
			}
		}
	}
	return all
}

// pries returns by which of unsafe and reflect the function gets at values, or
// "".
func pries(info *types.Info, body *ast.BlockStmt) string {
	for n := range ast.Preorder(body) {
		id, ok := n.(*ast.Ident)
		if !ok {
			continue
		}
		switch obj := info.Uses[id].(type) {
		case *types.TypeName:
			if isUnsafe(obj.Type()) {
				return "unsafe"
			}
		case *types.Func:
			if slices.Contains(reflecting, obj.FullName()) {
				return "reflect"
			}
		}
	}
	return ""
}

// reflecting names the functions by which reflect gets at what a value holds.
var reflecting = []string{"reflect.ValueOf", "reflect.Indirect", "reflect.New", "reflect.NewAt", "reflect.Zero"}

// instance reports that a function which pries is used on a handle.
func instance(pass *check.Pass, id *ast.Ident, how string) {
	args := pass.TypesInfo.Instances[id].TypeArgs
	for t := range args.Types() {
		report(pass, id, how, t)
	}
}

// calls reports a conversion from or to a handle by way of unsafe.Pointer, and
// a handle given to reflect.
func (c *checker) calls(call *ast.CallExpr) {
	if tv := c.TypesInfo.Types[call.Fun]; tv.IsType() && len(call.Args) == 1 {
		from, to := c.TypesInfo.TypeOf(call.Args[0]), tv.Type
		if isUnsafe(from) {
			report(c.Pass, call, "unsafe", to)
		} else if isUnsafe(to) {
			report(c.Pass, call, "unsafe", from)
		}
		return
	}
	fn, _ := c.tracer.Callee(call)
	switch {
	case fn == nil:
	case valueOf(fn):
		c.given(call, call.Args[0])
	case slices.Contains(reflecting, fn.FullName()):
		report(c.Pass, call, "reflect", reflected(c.TypesInfo, c.tracer.Value(call.Args[0])))
	default:
		for _, i := range c.reflected(fn) {
			if i < len(call.Args) {
				c.given(call, call.Args[i])
			}
		}
	}
}

// given reports that x, which is given to reflect, is a handle.
func (c *checker) given(call *ast.CallExpr, x ast.Expr) {
	t := c.TypesInfo.TypeOf(x)
	if types.IsInterface(t) {
		t = c.TypesInfo.TypeOf(c.tracer.Value(x))
	}
	report(c.Pass, call, "reflect", t)
}

// valueOf reports whether fn makes a reflect.Value of what it is given.
func valueOf(fn *types.Func) bool {
	return fn.FullName() == "reflect.ValueOf" || fn.FullName() == "reflect.Indirect"
}

// reflected returns which parameters of a function of this package it gives to
// reflect as they are.
func (c *checker) reflected(fn *types.Func) (params []int) {
	decl := c.tracer.Decl(fn)
	if decl == nil || decl.Type.TypeParams != nil { // which prying knows
		return nil
	}
	for n := range ast.Preorder(decl.Body) {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			continue
		}
		if by, _ := c.tracer.Callee(call); by == nil || !valueOf(by) {
			continue
		}
		for i := range fn.Signature().Params().Len() {
			if c.tracer.Object(call.Args[0]) == fn.Signature().Params().At(i) {
				params = append(params, i)
			}
		}
	}
	return params
}

func isUnsafe(t types.Type) bool { return t == types.Typ[types.UnsafePointer] }

// reflected returns the type of which the call x makes a reflect.Type, or nil.
func reflected(info *types.Info, x ast.Expr) types.Type {
	call, ok := ast.Unparen(x).(*ast.CallExpr)
	if !ok {
		return nil
	}
	fn, ok := typeutil.Callee(info, call).(*types.Func)
	if !ok {
		return nil
	}
	switch fn.FullName() {
	case "reflect.TypeOf":
		return info.TypeOf(call.Args[0])
	case "reflect.TypeFor":
		if index, ok := ast.Unparen(call.Fun).(*ast.IndexExpr); ok {
			return info.TypeOf(index.Index)
		}
	}
	return nil
}

func report(pass *check.Pass, at analysis.Range, how string, t types.Type) {
	if name, ok := handle(pass, t, 3); ok {
		pass.Findf(at, "%s goes around the methods of %s, which are all that its holder may do: call them instead", how, name)
	}
}

// handle returns the name of a handle that a value of type t is, points to, or
// has in it, down to a depth.
func handle(pass *check.Pass, t types.Type, depth int) (string, bool) {
	if t == nil || depth == 0 {
		return "", false
	}
	if name, ok := generated.Handle(pass.Fset, t); ok {
		return name, true
	}
	switch t := t.Underlying().(type) {
	case *types.Pointer:
		return handle(pass, t.Elem(), depth)
	case *types.Array:
		return handle(pass, t.Elem(), depth-1)
	case *types.Slice:
		return handle(pass, t.Elem(), depth-1)
	case *types.Chan:
		return handle(pass, t.Elem(), depth-1)
	case *types.Map:
		if name, ok := handle(pass, t.Key(), depth-1); ok {
			return name, true
		}
		return handle(pass, t.Elem(), depth-1)
	case *types.Struct:
		for f := range t.Fields() {
			if name, ok := handle(pass, f.Type(), depth-1); ok {
				return name, true
			}
		}
	}
	return "", false
}

// linknames reports directives that reach into the library or a writer
// package.
func linknames(pass *check.Pass, file *ast.File) {
	for _, group := range file.Comments {
		for _, comment := range group.List {
			d, ok := ast.ParseDirective(comment.Pos(), comment.Text)
			if !ok || d.Tool != "go" || d.Name != "linkname" {
				continue
			}
			args := strings.Fields(d.Args)
			if len(args) < 2 {
				continue // it offers a name and takes none
			}
			slash := strings.LastIndexByte(args[1], '/')
			elements, _, _ := strings.Cut(args[1][slash+1:], ".")
			if target := args[1][:slash+1] + elements; generated.Private(target) {
				pass.Findf(comment, "linkname reaches into %s, which only its importers may call: call a verb that an owner's home exports", target)
			}
		}
	}
}
