package handles

import (
	_ "embed"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/check"
	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/generated"
	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/program"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"
)

//go:embed doc.go
var doc string

// Analyzer is the check.
var Analyzer = check.New("handles", doc, "where the code only inspects", run, program.Analyzer)

func run(pass *check.Pass) {
	if !slices.ContainsFunc(pass.Pkg.Imports(), func(p *types.Package) bool { return p.Path() == "unsafe" || p.Path() == "reflect" }) {
		return
	}
	for _, file := range pass.Files {
		linknames(pass, file)
	}
	c := &checker{pass, pass.ResultOf[program.Analyzer].(*program.Package)}
	for instr := range program.Instructions(c.Functions...) {
		switch at := c.Syntax(instr); instr := instr.(type) {
		case *ssa.Convert:
			if at != nil {
				c.conversion(at, instr.X.Type(), instr.Type())
			}
		case ssa.CallInstruction:
			if at != nil {
				c.call(at, instr.Common())
			}
		}
	}
}

type checker struct {
	*check.Pass
	*program.Package
}

// conversion reports a conversion from or to a handle by unsafe.Pointer.
func (c *checker) conversion(at *ast.CallExpr, from, to types.Type) {
	if isUnsafe(from) {
		report(c.Pass, at, "unsafe", to)
	} else if isUnsafe(to) {
		report(c.Pass, at, "unsafe", from)
	}
}

func isUnsafe(t types.Type) bool { return t == types.Typ[types.UnsafePointer] }

// call reports a handle that is passed to reflect, or to a function of this
// package that passes its argument on to reflect, or to unsafe.
func (c *checker) call(at *ast.CallExpr, call *ssa.CallCommon) {
	fn, args := c.Callee(call)
	if fn == nil {
		return
	}
	if how := c.pries(fn); how != "" && fn.TypeParams().Len() > 0 {
		for _, t := range typeArgs(c.Origin(call.Value)) {
			report(c.Pass, at, how, t)
		}
		return
	}
	switch name := program.Name(fn); {
	case name == "reflect.ValueOf":
		report(c.Pass, at, "reflect", c.Origin(args[0]).Type())
	case slices.Contains(reflecting, name):
		report(c.Pass, at, "reflect", c.reflected(args[0]))
	default:
		for inner := range program.Calls(fn) {
			if by, values := c.Callee(inner.Common()); program.Name(by) == "reflect.ValueOf" {
				if param, ok := c.Origin(values[0]).(*ssa.Parameter); ok && param.Parent() == fn {
					report(c.Pass, at, "reflect", c.Origin(args[slices.Index(fn.Params, param)]).Type())
				}
			}
		}
	}
}

// reflecting lists the functions by which reflect gets at the value in a variable.
var reflecting = []string{"reflect.ValueOf", "reflect.New", "reflect.NewAt", "reflect.Zero"}

// pries returns by which of unsafe and reflect a function of this package gets
// at values, or "".
func (c *checker) pries(fn *ssa.Function) string {
	for instr := range program.Instructions(fn) {
		switch instr := instr.(type) {
		case *ssa.Convert:
			if isUnsafe(instr.X.Type()) || isUnsafe(instr.Type()) {
				return "unsafe"
			}
		case ssa.CallInstruction:
			if by, _ := c.Callee(instr.Common()); slices.Contains(reflecting, program.Name(by)) {
				return "reflect"
			}
		}
	}
	for _, literal := range fn.AnonFuncs {
		if how := c.pries(literal); how != "" {
			return how
		}
	}
	return ""
}

// typeArgs returns the type arguments of the instance of a generic function.
func typeArgs(v ssa.Value) []types.Type {
	if fn, ok := v.(*ssa.Function); ok {
		return fn.TypeArgs()
	}
	return nil
}

// reflected returns the type of which v is the reflect.Type, or nil.
func (c *checker) reflected(v ssa.Value) types.Type {
	call, ok := c.Origin(v).(*ssa.Call)
	if !ok {
		return nil
	}
	switch fn, args := c.Callee(&call.Call); program.Name(fn) {
	case "reflect.TypeOf":
		return c.Origin(args[0]).Type()
	case "reflect.TypeFor":
		return typeArgs(call.Call.Value)[0]
	}
	return nil
}

func report(pass *check.Pass, at analysis.Range, how string, t types.Type) {
	if name, ok := handle(pass, t, 5); ok {
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
	case *types.Map:
		if name, ok := handle(pass, t.Key(), depth-1); ok {
			return name, true
		}
		return handle(pass, t.Elem(), depth-1)
	case interface{ Elem() types.Type }: // a pointer, array, slice or channel
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
