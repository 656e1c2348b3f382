package readmodifywrite

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"
)

// result returns the variable that the call's first result is assigned to, or
// nil.
func (c *checker) result(call *ast.CallExpr) types.Object {
	cur, ok := c.root.FindNode(call)
	if !ok {
		return nil
	}
	assign, ok := cur.Parent().Node().(*ast.AssignStmt)
	if !ok || len(assign.Rhs) != 1 {
		return nil
	}
	return c.tracer.Object(assign.Lhs[0])
}

// uses yields every place at which obj is used in the function around call,
// except where it is assigned to.
func (c *checker) uses(call *ast.CallExpr, obj types.Object) func(yield func(inspector.Cursor) bool) {
	return func(yield func(inspector.Cursor) bool) {
		cur, _ := c.root.FindNode(call)
		for decl := range cur.Enclosing((*ast.FuncDecl)(nil), (*ast.GenDecl)(nil)) {
			for use := range decl.Preorder((*ast.Ident)(nil)) {
				assign, ok := use.Parent().Node().(*ast.AssignStmt)
				assigned := ok && slices.Contains(assign.Lhs, ast.Expr(use.Node().(*ast.Ident)))
				if !assigned && c.TypesInfo.Uses[use.Node().(*ast.Ident)] == obj && !yield(use) {
					return
				}
			}
		}
	}
}

// comparing names functions that tell whether a content is the right one, or is
// one at all.
var comparing = []string{"bytes.Equal", "bytes.Compare", "reflect.DeepEqual", "slices.Equal", "maps.Equal", "encoding/json.Valid", "unicode/utf8.Valid"}

// digesting names the packages whose functions return a digest of a content, or
// write one in another way: from them the content cannot be had.
var digesting = []string{"crypto/", "hash/", "encoding/hex", "encoding/base64"}

// onlyCompared reports whether the content that the call returns serves for
// nothing but to see if it is equal to something, or is not used at all.
func (c *checker) onlyCompared(call *ast.CallExpr) bool {
	if !c.returnsContent(call) {
		return false
	}
	cur, ok := c.root.FindNode(call)
	return ok && (c.onlyCompares(cur) || c.discarded(cur))
}

// digests reports whether what fn returns is made of a content and does not hold
// it.
func digests(fn *types.Func) bool {
	return fn.Pkg() != nil && fn.Signature().Recv() == nil &&
		slices.ContainsFunc(digesting, func(prefix string) bool { return strings.HasPrefix(fn.Pkg().Path()+"/", prefix) })
}

// onlyCompares reports whether the value of the call at cur, or of the variable
// that it is assigned to, is an operand of comparisons and nothing else.
func (c *checker) onlyCompares(cur inspector.Cursor) bool {
	call := cur.Node().(*ast.CallExpr)
	obj := c.result(call)
	if obj == nil {
		return c.compared(cur)
	}
	for use := range c.uses(call, obj) {
		if !c.compared(use) {
			return false
		}
	}
	return true
}

// returnsContent reports whether the call's first result is text or bytes;
// otherwise it may have put them into what it was given.
func (c *checker) returnsContent(call *ast.CallExpr) bool {
	t := c.TypesInfo.TypeOf(call)
	if results, ok := t.(*types.Tuple); ok && results.Len() > 0 {
		t = results.At(0).Type()
	}
	switch t := t.Underlying().(type) {
	case *types.Basic:
		return t.Info()&types.IsString != 0
	case *types.Slice:
		return types.Identical(t.Elem(), types.Typ[types.Byte])
	}
	return false
}

// keeps reports whether a function has no way to hand on what it reads, except
// whether it was right.
func keeps(sig *types.Signature) bool {
	for result := range sig.Results().Variables() {
		if b, ok := result.Type().Underlying().(*types.Basic); !types.Identical(result.Type(), errorType) && (!ok || b.Kind() != types.Bool) {
			return false
		}
	}
	for param := range sig.Params().Variables() {
		if _, ok := param.Type().Underlying().(*types.Basic); !ok {
			return false
		}
	}
	return sig.Recv() == nil
}

// discarded reports whether the value at cur is assigned to nothing.
func (c *checker) discarded(cur inspector.Cursor) bool {
	assign, ok := cur.Parent().Node().(*ast.AssignStmt)
	if !ok {
		return false
	}
	id, ok := assign.Lhs[0].(*ast.Ident)
	return ok && id.Name == "_"
}

// compared reports whether the value at cur is an operand of a comparison.
func (c *checker) compared(cur inspector.Cursor) bool {
	switch parent := cur.Parent().Node().(type) {
	case *ast.BinaryExpr:
		return parent.Op == token.EQL || parent.Op == token.NEQ
	case *ast.ParenExpr, *ast.SliceExpr:
		return c.compared(cur.Parent())
	case *ast.CallExpr:
		if c.TypesInfo.Types[parent.Fun].IsType() { // string(text) == …
			return c.compared(cur.Parent())
		}
		fn, ok := typeutil.Callee(c.TypesInfo, parent).(*types.Func)
		return ok && (slices.Contains(comparing, fn.FullName()) || digests(fn) && c.onlyCompares(cur.Parent()))
	}
	return false
}
