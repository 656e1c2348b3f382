package fileio

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/types/typeutil"
)

// An Op says what a call does to a file.
type Op int

const (
	// Read reads the whole file.
	Read Op = iota
	// Open opens a file, so that it can be read through the handle.
	Open
	// Replace gives the file a new content.
	Replace
	// Change changes the file in some other way: it appends, creates,
	// moves, links or removes it.
	Change
)

// An Access is what a call does to one file.
type Access struct {
	Op   Op
	Path ast.Expr
	// Root is the directory that Path is relative to, or nil.
	Root ast.Expr
}

// An effect is an Access before the call is known. path is the index of the
// argument; flags that of the flags of an open call, 0 if it has none.
type effect struct {
	op          Op
	path, flags int
}

// importPaths are those of the packages that have the functions below.
var importPaths = []string{
	"os", "io/ioutil",
	"github.com/google/renameio", "github.com/google/renameio/maybe",
	"github.com/google/renameio/v2", "github.com/google/renameio/v2/maybe",
	"github.com/natefinch/atomic",
	"github.com/rogpeppe/go-internal/lockedfile",
}

var functions = map[string][]effect{
	"os.Open":              {{op: Open}},
	"os.ReadFile":          {{op: Read}},
	"os.WriteFile":         {{op: Replace}},
	"os.Create":            {{op: Replace}},
	"os.OpenFile":          {{flags: 1}},
	"os.Rename":            {{op: Change}, {op: Replace, path: 1}},
	"os.Link":              {{op: Change}, {op: Change, path: 1}},
	"os.Symlink":           {{op: Change, path: 1}},
	"os.Remove":            {{op: Change}},
	"os.RemoveAll":         {{op: Change}},
	"os.Truncate":          {{op: Change}},
	"os.Mkdir":             {{op: Change}},
	"os.MkdirAll":          {{op: Change}},
	"(*os.Root).Open":      {{op: Open}},
	"(*os.Root).ReadFile":  {{op: Read}},
	"(*os.Root).WriteFile": {{op: Replace}},
	"(*os.Root).Create":    {{op: Replace}},
	"(*os.Root).OpenFile":  {{flags: 1}},
	"(*os.Root).Rename":    {{op: Change}, {op: Replace, path: 1}},
	"(*os.Root).Link":      {{op: Change}, {op: Change, path: 1}},
	"(*os.Root).Symlink":   {{op: Change, path: 1}},
	"(*os.Root).Remove":    {{op: Change}},
	"(*os.Root).RemoveAll": {{op: Change}},
	"(*os.Root).Mkdir":     {{op: Change}},
	"(*os.Root).MkdirAll":  {{op: Change}},

	"io/ioutil.ReadFile":  {{op: Read}},
	"io/ioutil.WriteFile": {{op: Replace}},

	"github.com/google/renameio.WriteFile":          {{op: Replace}},
	"github.com/google/renameio.TempFile":           {{op: Replace, path: 1}},
	"github.com/google/renameio.Symlink":            {{op: Change, path: 1}},
	"github.com/google/renameio/maybe.WriteFile":    {{op: Replace}},
	"github.com/google/renameio/v2.WriteFile":       {{op: Replace}},
	"github.com/google/renameio/v2.TempFile":        {{op: Replace, path: 1}},
	"github.com/google/renameio/v2.NewPendingFile":  {{op: Replace}},
	"github.com/google/renameio/v2.Symlink":         {{op: Change, path: 1}},
	"github.com/google/renameio/v2/maybe.WriteFile": {{op: Replace}},

	"github.com/natefinch/atomic.WriteFile":   {{op: Replace}},
	"github.com/natefinch/atomic.ReplaceFile": {{op: Change}, {op: Replace, path: 1}},

	"github.com/rogpeppe/go-internal/lockedfile.Open":   {{op: Open}},
	"github.com/rogpeppe/go-internal/lockedfile.Read":   {{op: Read}},
	"github.com/rogpeppe/go-internal/lockedfile.Write":  {{op: Replace}},
	"github.com/rogpeppe/go-internal/lockedfile.Create": {{op: Replace}},
}

// Imported reports whether pkg imports a package of which it could call
// something.
func Imported(pkg *types.Package) bool {
	return slices.ContainsFunc(pkg.Imports(), func(p *types.Package) bool { return slices.Contains(importPaths, p.Path()) })
}

// Accesses returns what call does to files; nothing if it does not say so by
// itself.
func Accesses(info *types.Info, call *ast.CallExpr) []Access {
	fn, ok := typeutil.Callee(info, call).(*types.Func)
	if !ok {
		return nil
	}
	var all []Access
	for _, e := range functions[fn.FullName()] {
		if len(call.Args) <= max(e.path, e.flags) {
			continue // f(g()), where g returns the arguments
		}
		a := Access{Op: e.op, Path: call.Args[e.path], Root: root(fn, call)}
		if e.flags == 0 {
			all = append(all, a)
			continue
		}
		for _, a.Op = range opens(fn.Pkg(), info.Types[call.Args[e.flags]].Value) {
			all = append(all, a)
		}
	}
	return all
}

// root returns the receiver of a call to a method.
func root(fn *types.Func, call *ast.CallExpr) ast.Expr {
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && fn.Signature().Recv() != nil {
		return sel.X
	}
	return nil
}

// opens returns what it means to open a file with flags, constants of package
// os for the system that the code is for. Flags that are not constant may mean
// anything, which is taken for nothing.
func opens(os *types.Package, flags constant.Value) []Op {
	if flags == nil {
		return nil
	}
	has := func(name string) bool {
		c, ok := os.Scope().Lookup(name).(*types.Const)
		return ok && constant.Sign(constant.BinaryOp(flags, token.AND, c.Val())) != 0
	}
	switch write := has("O_WRONLY") || has("O_RDWR"); {
	case !write && !has("O_CREATE"):
		return []Op{Open}
	case write && has("O_TRUNC") && !has("O_EXCL"):
		return []Op{Replace}
	case has("O_RDWR"):
		return []Op{Open, Change}
	}
	return []Op{Change}
}
