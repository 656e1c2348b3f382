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
		silenced := silenced(pass.TypesInfo, file)
		for n := range ast.Preorder(file) {
			call := dropped(n)
			if call == nil {
				call = silencedCall(pass.TypesInfo, n, silenced)
			}
			if call != nil && commits(pass.TypesInfo, call) {
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

// silenced returns the variables of a file's functions that are set, and used in
// nothing but "_ = err", by which the compiler lets an error drop.
func silenced(info *types.Info, file *ast.File) map[types.Object]bool {
	uses := map[types.Object]int{}
	unused := func(x ast.Expr) {
		if id, ok := x.(*ast.Ident); ok && info.Uses[id] != nil {
			uses[info.Uses[id]]--
		}
	}
	for n := range ast.Preorder(file) {
		switch n := n.(type) {
		case *ast.Ident:
			if obj := info.Uses[n]; obj != nil {
				uses[obj]++
			}
		case *ast.AssignStmt:
			for _, x := range n.Lhs {
				unused(x)
			}
			if len(n.Lhs) == 1 && len(n.Rhs) == 1 && blank(n.Lhs[0]) {
				unused(n.Rhs[0])
			}
		}
	}
	dropped := map[types.Object]bool{}
	for obj, n := range uses {
		v, ok := obj.(*types.Var)
		dropped[obj] = n == 0 && ok && v.Kind() == types.LocalVar && types.Identical(v.Type(), errorType)
	}
	return dropped
}

// silencedCall returns the call whose error n puts into a variable that is
// silenced, or nil.
func silencedCall(info *types.Info, n ast.Node, silenced map[types.Object]bool) *ast.CallExpr {
	assign, ok := n.(*ast.AssignStmt)
	if !ok || len(assign.Rhs) != 1 {
		return nil
	}
	id, ok := assign.Lhs[len(assign.Lhs)-1].(*ast.Ident)
	if !ok || !silenced[info.ObjectOf(id)] {
		return nil
	}
	call, _ := ast.Unparen(assign.Rhs[0]).(*ast.CallExpr)
	return call
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
	for param := range sig.Params().Variables() {
		if generated.IsPointerTo(param.Type(), generated.Sidecar, "Options") || generated.Writes(param.Type()) {
			return true // a verb, or a part of one, that returns nothing but its error
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
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
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
