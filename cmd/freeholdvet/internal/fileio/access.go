package fileio

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
)

// An Op says what a call does to a file.
type Op int

const (
	// Read reads the whole file.
	Read Op = iota
	// Open opens a file, so that it can be read through the handle.
	Open
	// Update opens a file, so that it can be read through the handle and
	// written anywhere.
	Update
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
// argument; flags that of the flags of an open call, 0 if it has none; in says
// that the first argument is the directory.
type effect struct {
	op          Op
	path, flags int
	in          bool
}

// importPaths are those of the packages that have the functions below.
var importPaths = []string{
	"os", "io/fs", "io/ioutil",
	"github.com/google/renameio", "github.com/google/renameio/maybe",
	"github.com/google/renameio/v2", "github.com/google/renameio/v2/maybe",
	"github.com/natefinch/atomic",
	"github.com/rogpeppe/go-internal/lockedfile",
	"golang.org/x/sys/unix", "syscall", "os/exec",
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
	"os.CopyFS":            {{op: Change}},
	"os.OpenInRoot":        {{op: Open, path: 1, in: true}},
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

	"io/fs.ReadFile":      {{op: Read, path: 1, in: true}},
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

	"github.com/rogpeppe/go-internal/lockedfile.Open":      {{op: Open}},
	"github.com/rogpeppe/go-internal/lockedfile.OpenFile":  {{flags: 1}},
	"github.com/rogpeppe/go-internal/lockedfile.Read":      {{op: Read}},
	"github.com/rogpeppe/go-internal/lockedfile.Write":     {{op: Replace}},
	"github.com/rogpeppe/go-internal/lockedfile.Create":    {{op: Replace}},
	"github.com/rogpeppe/go-internal/lockedfile.Edit":      {{op: Update}},
	"github.com/rogpeppe/go-internal/lockedfile.Transform": {{op: Read}, {op: Replace}},

	"syscall.Link":     {{op: Change}, {op: Change, path: 1}},
	"syscall.Open":     {{flags: 1}},
	"syscall.Rename":   {{op: Change}, {op: Replace, path: 1}},
	"syscall.Symlink":  {{op: Change, path: 1}},
	"syscall.Truncate": {{op: Change}},
	"syscall.Unlink":   {{op: Change}},

	"golang.org/x/sys/unix.Link":     {{op: Change}, {op: Change, path: 1}},
	"golang.org/x/sys/unix.Open":     {{flags: 1}},
	"golang.org/x/sys/unix.Rename":   {{op: Change}, {op: Replace, path: 1}},
	"golang.org/x/sys/unix.Symlink":  {{op: Change, path: 1}},
	"golang.org/x/sys/unix.Truncate": {{op: Change}},
	"golang.org/x/sys/unix.Unlink":   {{op: Change}},
}

// Imported reports whether pkg imports a package of which it could call
// something.
func Imported(pkg *types.Package) bool {
	return slices.ContainsFunc(pkg.Imports(), func(p *types.Package) bool { return slices.Contains(importPaths, p.Path()) })
}

// Accesses returns what call does to files; nothing if it does not say so by
// itself.
func (t *Tracer) Accesses(call *ast.CallExpr) []Access {
	fn, name := t.Callee(call)
	if fn == nil || functions[fn.FullName()] == nil {
		return nil
	}
	root, args := t.receiver(fn, name, call)
	var all []Access
	for _, e := range functions[fn.FullName()] {
		if len(args) <= max(e.path, e.flags) {
			continue // f(g()), where g returns the arguments
		}
		a := Access{Op: e.op, Path: args[e.path], Root: root}
		if e.in {
			a.Root = args[0]
		}
		if e.flags == 0 {
			all = append(all, a)
			continue
		}
		for _, a.Op = range opens(t.flags(args[e.flags], fn.Pkg())) {
			all = append(all, a)
		}
	}
	return all
}

// flags returns the value of flags, also where a variable that is set once holds
// it, and the package that the constants in it are from, or else the given one.
func (t *Tracer) flags(x ast.Expr, from *types.Package) (constant.Value, *types.Package) {
	x = t.Value(x)
	for n := range ast.Preorder(x) {
		id, ok := n.(*ast.Ident)
		if !ok {
			continue
		}
		if c, ok := t.info.Uses[id].(*types.Const); ok && c.Pkg() != nil && c.Pkg().Scope().Lookup("O_RDWR") != nil {
			from = c.Pkg()
		}
	}
	return t.info.Types[x].Value, from
}

// opens returns what it means to open a file with flags, which are constants of
// the package that they are from, for the system that the code is for. Flags that
// are not constant may mean anything, which is taken for nothing.
func opens(flags constant.Value, from *types.Package) []Op {
	if flags == nil {
		return nil
	}
	has := func(names ...string) bool {
		return slices.ContainsFunc(names, func(name string) bool {
			c, ok := from.Scope().Lookup(name).(*types.Const)
			return ok && constant.Sign(constant.BinaryOp(flags, token.AND, c.Val())) != 0
		})
	}
	switch write := has("O_WRONLY") || has("O_RDWR"); {
	case !write && !has("O_CREATE", "O_CREAT"):
		return []Op{Open}
	case write && has("O_TRUNC") && !has("O_EXCL"):
		return []Op{Replace}
	case has("O_RDWR") && has("O_APPEND"):
		return []Op{Open, Change}
	case has("O_RDWR"):
		return []Op{Update}
	}
	return []Op{Change}
}
