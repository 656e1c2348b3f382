package readmodifywrite

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/fileio"
	"golang.org/x/tools/go/types/typeutil"
)

// An event is that a call, or a function that it calls, reads or replaces a
// file.
type event struct {
	op   fileio.Op
	call *ast.CallExpr
	path fileio.Path
}

// deepest bounds how far calls of functions of the package are followed.
const deepest = 3

// events returns those of a function, in the order of the text. With an env
// they are those of one call of it.
func (c *checker) events(body *ast.BlockStmt, env fileio.Env, depth int) []event {
	var events []event
	opened := map[types.Object]fileio.Path{}
	for n := range ast.Preorder(body) {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			continue
		}
		for _, access := range fileio.Accesses(c.TypesInfo, call) {
			e := event{access.Op, call, c.tracer.Of(access.Root, access.Path, env)}
			switch e.op {
			case fileio.Open:
				if file := c.result(call); file != nil {
					opened[file] = e.path
				}
				if c.readsHandle(call) {
					e.op = fileio.Read
					events = append(events, e)
				}
			case fileio.Read:
				if !c.onlyCompared(call) {
					events = append(events, e)
				}
			case fileio.Replace:
				events = append(events, e)
			}
		}
		if path, ok := opened[c.truncated(call)]; ok {
			events = append(events, event{fileio.Replace, call, path})
		}
		if depth < deepest {
			events = append(events, c.called(call, env, depth)...)
		}
	}
	return events
}

// truncated returns the variable whose file the call cuts, or nil.
func (c *checker) truncated(call *ast.CallExpr) types.Object {
	fn, ok := typeutil.Callee(c.TypesInfo, call).(*types.Func)
	if !ok || fn.FullName() != "(*os.File).Truncate" {
		return nil
	}
	if sel, ok := call.Fun.(*ast.SelectorExpr); ok {
		return c.tracer.Object(sel.X)
	}
	return nil
}

// called returns the events of the function of this package that call calls,
// as far as they mean something outside of it. A file that it both reads and
// replaces is its own affair.
func (c *checker) called(call *ast.CallExpr, env fileio.Env, depth int) []event {
	fn, ok := typeutil.Callee(c.TypesInfo, call).(*types.Func)
	if !ok {
		return nil
	}
	decl := c.tracer.Decl(fn)
	if decl == nil || !c.accesses(decl) {
		return nil
	}
	silent := keeps(fn.Signature())
	inner := c.events(decl.Body, c.tracer.Bind(fn, call, env), depth+1)
	does := func(op fileio.Op, path string) bool {
		return slices.ContainsFunc(inner, func(e event) bool { return e.op == op && e.path.Text == path })
	}
	var events []event
	for _, e := range inner {
		both := does(fileio.Read, e.path.Text) && does(fileio.Replace, e.path.Text)
		compared := e.op == fileio.Read && (silent || c.onlyCompared(call))
		if !both && !compared && !e.path.Local {
			e.call = call
			events = append(events, e)
		}
	}
	return events
}

// accesses reports whether the function, or one of this package that it calls,
// reads or replaces files.
func (c *checker) accesses(decl *ast.FuncDecl) bool {
	if known, ok := c.touches[decl]; ok {
		return known
	}
	c.touches[decl] = false // while it is being found out
	for n := range ast.Preorder(decl.Body) {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			continue
		}
		touches := len(fileio.Accesses(c.TypesInfo, call)) > 0
		if fn, ok := typeutil.Callee(c.TypesInfo, call).(*types.Func); ok && !touches {
			inner := c.tracer.Decl(fn)
			touches = inner != nil && c.accesses(inner)
		}
		if touches {
			c.touches[decl] = true
			break
		}
	}
	return c.touches[decl]
}
