package fileio

import (
	"go/ast"
	"go/types"
	"maps"

	"golang.org/x/tools/go/types/typeutil"
)

// Callee returns the function that call calls, also where a variable that is
// set once holds it, and the expression that names the function. It returns nil
// if that is not told.
func (t *Tracer) Callee(call *ast.CallExpr) (fn *types.Func, name ast.Expr) {
	switch callee := typeutil.Callee(t.info, call).(type) {
	case *types.Func:
		return callee, ast.Unparen(call.Fun)
	case *types.Var:
		name = t.once[callee]
	}
	if name == nil {
		return nil, nil
	}
	name = ast.Unparen(name)
	fn, _ = t.Object(name).(*types.Func)
	return fn, name
}

// Literal returns the function literal that call calls by the name of a
// variable that is set once, or nil.
func (t *Tracer) Literal(call *ast.CallExpr) *ast.FuncLit {
	v, ok := typeutil.Callee(t.info, call).(*types.Var)
	if !ok {
		return nil
	}
	lit, _ := t.once[v].(*ast.FuncLit)
	return lit
}

// receiver returns the receiver of a call to fn, which is called name there, or
// nil if it has none; and the arguments.
func (t *Tracer) receiver(fn *types.Func, name ast.Expr, call *ast.CallExpr) (ast.Expr, []ast.Expr) {
	sel, ok := name.(*ast.SelectorExpr)
	if !ok || fn.Signature().Recv() == nil {
		return nil, call.Args
	}
	if s := t.info.Selections[sel]; s != nil && s.Kind() == types.MethodExpr && len(call.Args) > 0 {
		return call.Args[0], call.Args[1:]
	}
	return sel.X, call.Args
}

// Bind returns what is known of the parameters and the receiver of fn, a
// function of this package, when call calls it.
func (t *Tracer) Bind(fn *types.Func, call *ast.CallExpr, env Env) Env {
	decl, bound := t.Decl(fn), Env{}
	_, name := t.Callee(call)
	recv, args := t.receiver(fn, name, call)
	if recv != nil && len(decl.Recv.List[0].Names) == 1 {
		t.bind(bound, decl.Recv.List[0].Names[0], recv, env)
	}
	t.bindAll(bound, decl.Type.Params, args, env)
	return bound
}

// BindLiteral is Bind for a function literal, which knows what the function
// around it knows.
func (t *Tracer) BindLiteral(lit *ast.FuncLit, call *ast.CallExpr, env Env) Env {
	bound := Env{}
	maps.Copy(bound, env)
	t.bindAll(bound, lit.Type.Params, call.Args, env)
	return bound
}

func (t *Tracer) bindAll(bound Env, params *ast.FieldList, args []ast.Expr, env Env) {
	i := 0
	for _, field := range params.List {
		for _, name := range field.Names {
			if _, variadic := field.Type.(*ast.Ellipsis); i < len(args) && !variadic {
				t.bind(bound, name, args[i], env)
			}
			i++
		}
	}
}

func (t *Tracer) bind(bound Env, name *ast.Ident, x ast.Expr, env Env) {
	if obj := t.info.Defs[name]; obj != nil {
		p := t.path(x, env)
		p.Local = p.Local && env != nil // what the outermost function calls local is fixed while it calls
		bound[obj] = p
	}
}
