package droppedresult

import (
	_ "embed"
	"go/ast"
	"go/types"

	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/check"
	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/generated"
	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/program"
	"golang.org/x/tools/go/types/typeutil"
)

//go:embed doc.go
var doc string

// Analyzer is the check.
var Analyzer = check.New("droppedresult", doc, "where nothing depends on the outcome", run, program.Analyzer)

func run(pass *check.Pass) {
	imports := generated.Imports(pass.Pkg)
	if imports[generated.Sidecar] == nil && imports[generated.Retire] == nil || generated.Within(pass.Pkg.Path(), generated.Sidecar) {
		return
	}
	p := pass.ResultOf[program.Analyzer].(*program.Package)
	for call := range program.Calls(p.Functions...) {
		at := p.Syntax(call)
		if at != nil && program.Result(call, -1) == nil && commits(pass.TypesInfo, at) {
			pass.Findf(at, "the error of %s is dropped, and it alone tells whether anything was done: handle it", name(pass.TypesInfo, at))
		}
	}
}

// commits reports whether the call's error is the outcome of a commit.
func commits(info *types.Info, call *ast.CallExpr) bool {
	sig, ok := info.TypeOf(call.Fun).(*types.Signature)
	if !ok || sig.Results().Len() == 0 || !types.Identical(sig.Results().At(sig.Results().Len()-1).Type(), program.ErrorType) {
		return false
	}
	if fn, ok := typeutil.Callee(info, call).(*types.Func); ok && fn.Pkg() != nil {
		if fn.Name() == "Close" {
			return false
		}
		if path := fn.Pkg().Path(); path == generated.Sidecar || path == generated.Retire || generated.Writer(fn.Pkg()) {
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

// name returns the name of the function that is called.
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
