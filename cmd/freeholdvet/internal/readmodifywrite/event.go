package readmodifywrite

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/fileio"
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
	opened := map[types.Object]handle{}
	for n := range ast.Preorder(body) {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			continue
		}
		for _, access := range c.tracer.Accesses(call) {
			e := event{access.Op, call, c.tracer.Of(access.Root, access.Path, env)}
			switch e.op {
			case fileio.Open, fileio.Update:
				if file := c.result(call); file != nil {
					opened[file] = handle{e.path, e.op == fileio.Update}
				}
				if at := c.reading(call); at != nil {
					events = append(events, event{fileio.Read, at, e.path})
				}
			case fileio.Read:
				if !c.onlyCompared(call) {
					events = append(events, e)
				}
			case fileio.Replace:
				events = append(events, e)
			}
		}
		if file, cuts := c.rewritten(call); cuts || opened[file].update {
			if h, ok := opened[file]; ok {
				events = append(events, event{fileio.Replace, call, h.path})
			}
		}
		if depth < deepest {
			events = append(events, c.called(call, env, depth)...)
		}
	}
	return events
}

// called returns the events of the function of this package that call calls,
// as far as they mean something outside of it. A file that it both reads and
// replaces is its own affair.
func (c *checker) called(call *ast.CallExpr, env fileio.Env, depth int) []event {
	lit := c.tracer.Literal(call)
	body, env, silent := c.callee(call, env)
	if body == nil || !c.accesses(body) {
		return nil
	}
	inner := c.events(body, env, depth+1)
	does := func(op fileio.Op, path string) bool {
		return slices.ContainsFunc(inner, func(e event) bool { return e.op == op && e.path.Text == path })
	}
	var events []event
	for _, e := range inner {
		both := does(fileio.Read, e.path.Text) && does(fileio.Replace, e.path.Text)
		compared := e.op == fileio.Read && (silent || c.onlyCompared(call))
		local := e.path.Local && lit == nil // what is around a literal is the same outside of it
		if !both && !compared && !local {
			e.call = call
			events = append(events, e)
		}
	}
	return events
}

// callee returns the body of the function of this package, or of the function
// literal, that call calls, what is known of its parameters then, and whether it
// hands nothing on of what it reads. A literal may, by what is around it.
func (c *checker) callee(call *ast.CallExpr, env fileio.Env) (body *ast.BlockStmt, bound fileio.Env, silent bool) {
	if lit := c.tracer.Literal(call); lit != nil {
		return lit.Body, c.tracer.BindLiteral(lit, call, env), false
	}
	fn, _ := c.tracer.Callee(call)
	if fn == nil {
		return nil, nil, false
	}
	decl := c.tracer.Decl(fn)
	if decl == nil {
		return nil, nil, false
	}
	return decl.Body, c.tracer.Bind(fn, call, env), keeps(fn.Signature())
}

// accesses reports whether a function, or one of this package that it calls,
// reads or replaces files.
func (c *checker) accesses(body *ast.BlockStmt) bool {
	if known, ok := c.touches[body]; ok {
		return known
	}
	c.touches[body] = false // while it is being found out
	for n := range ast.Preorder(body) {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			continue
		}
		touches := len(c.tracer.Accesses(call)) > 0
		if inner, _, _ := c.callee(call, nil); inner != nil && !touches {
			touches = c.accesses(inner)
		}
		if touches {
			c.touches[body] = true
			break
		}
	}
	return c.touches[body]
}
