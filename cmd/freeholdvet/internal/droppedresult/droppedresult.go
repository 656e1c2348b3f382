package droppedresult

import (
	_ "embed"
	"go/ast"
	"go/types"

	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/check"
	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/generated"
	"golang.org/x/tools/go/types/typeutil"
)

//go:embed doc.go
var doc string

// Analyzer is the check.
var Analyzer = check.New("droppedresult", doc, run)

func run(pass *check.Pass) {
	if generated.Imports(pass.Pkg)[generated.Sidecar] == nil || generated.Within(pass.Pkg.Path(), generated.Sidecar) {
		return
	}
	for _, file := range pass.Files {
		for n := range ast.Preorder(file) {
			call := dropped(n)
			if call == nil {
				continue
			}
			if commits(pass.TypesInfo, call) {
				pass.Findf(call, "the error of %s is dropped, and it alone tells whether anything was done: handle it", name(pass.TypesInfo, call))
			}
		}
	}
}

// dropped returns the call whose error n drops, or nil. Errors come last.
func dropped(n ast.Node) *ast.CallExpr {
	var x ast.Expr
	switch n := n.(type) {
	case *ast.ExprStmt:
		x = n.X
	case *ast.GoStmt:
		return n.Call
	case *ast.DeferStmt:
		return n.Call
	case *ast.AssignStmt:
		if len(n.Rhs) == 1 && blank(n.Lhs[len(n.Lhs)-1]) {
			x = n.Rhs[0]
		}
	case *ast.ValueSpec:
		if len(n.Values) == 1 && blank(n.Names[len(n.Names)-1]) {
			x = n.Values[0]
		}
	}
	if x == nil {
		return nil
	}
	call, _ := ast.Unparen(x).(*ast.CallExpr)
	return call
}

func blank(x ast.Expr) bool {
	id, ok := x.(*ast.Ident)
	return ok && id.Name == "_"
}

// commits reports whether the call's error tells what became of a commit.
func commits(info *types.Info, call *ast.CallExpr) bool {
	sig, ok := info.TypeOf(call.Fun).(*types.Signature)
	if !ok || sig.Results().Len() == 0 || !types.Identical(sig.Results().At(sig.Results().Len()-1).Type(), errorType) {
		return false
	}
	if fn, ok := typeutil.Callee(info, call).(*types.Func); ok && fn.Pkg() != nil {
		if fn.Name() == "Close" {
			return false
		}
		if fn.Pkg().Path() == generated.Sidecar || generated.Writer(fn.Pkg()) {
			return true
		}
	}
	for result := range sig.Results().Variables() {
		if holdsCommit(result.Type()) {
			return true
		}
	}
	return false
}

var errorType = types.Universe.Lookup("error").Type()

// holdsCommit reports whether t is a sidecar.Commit or embeds one.
func holdsCommit(t types.Type) bool {
	if generated.Is(t, generated.Sidecar, "Commit") {
		return true
	}
	s, ok := t.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for f := range s.Fields() {
		if f.Embedded() && generated.Is(f.Type(), generated.Sidecar, "Commit") {
			return true
		}
	}
	return false
}

// name returns the name of what is called.
func name(info *types.Info, call *ast.CallExpr) string {
	fn, ok := typeutil.Callee(info, call).(*types.Func)
	if !ok {
		return types.ExprString(call.Fun)
	}
	if recv := fn.Signature().Recv(); recv != nil {
		return types.TypeString(recv.Type(), (*types.Package).Name) + "." + fn.Name()
	}
	return fn.Pkg().Name() + "." + fn.Name()
}
