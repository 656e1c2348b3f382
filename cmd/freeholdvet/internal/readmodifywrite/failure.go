package readmodifywrite

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/types/typeutil"
)

// failure returns the variable that holds the error of call, or nil.
func (c *checker) failure(call *ast.CallExpr) types.Object {
	cur, ok := c.root.FindNode(call)
	if !ok {
		return nil
	}
	assign, ok := cur.Parent().Node().(*ast.AssignStmt)
	if !ok || len(assign.Rhs) != 1 {
		return nil
	}
	obj := c.tracer.Object(assign.Lhs[len(assign.Lhs)-1])
	if obj == nil || !types.Identical(obj.Type(), errorType) {
		return nil
	}
	return obj
}

var errorType = types.Universe.Lookup("error").Type()

// failed reports whether the read has failed if the condition, the last of the
// nodes, turns out as it does: then nothing of the file can be in what is
// written.
func (f *flow) failed(nodes []ast.Node, condition bool) bool {
	if len(nodes) == 0 {
		return false
	}
	x, ok := nodes[len(nodes)-1].(ast.Expr)
	return ok && f.implies(x, condition)
}

// kinds names functions that tell what kind of error their first argument is.
var kinds = []string{"errors.Is", "errors.As", "os.IsNotExist", "os.IsExist", "os.IsPermission"}

// implies reports whether the read has failed if x is condition.
func (f *flow) implies(x ast.Expr, condition bool) bool {
	switch x := ast.Unparen(x).(type) {
	case *ast.UnaryExpr:
		return x.Op == token.NOT && f.implies(x.X, !condition)
	case *ast.CallExpr:
		fn, ok := typeutil.Callee(f.TypesInfo, x).(*types.Func)
		return ok && condition && slices.Contains(kinds, fn.FullName()) && f.tracer.Object(x.Args[0]) == f.err
	case *ast.BinaryExpr:
		switch x.Op {
		case token.LAND:
			return condition && (f.implies(x.X, true) || f.implies(x.Y, true))
		case token.LOR:
			return !condition && (f.implies(x.X, false) || f.implies(x.Y, false))
		case token.EQL, token.NEQ:
			if f.tracer.Object(x.X) != f.err {
				return false
			}
			if f.TypesInfo.Types[x.Y].IsNil() {
				return condition == (x.Op == token.NEQ)
			}
			return condition && x.Op == token.EQL // err == fs.ErrNotExist
		}
	}
	return false
}
