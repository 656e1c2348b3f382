package readmodifywrite

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/fileio"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"
)

// A handle is an open file.
type handle struct {
	path   fileio.Path
	update bool // it can be read, and written anywhere
}

// The methods of a file that write it and those that do neither that nor read
// it, the functions that write to their first argument, and the names of those
// that make of it something to write to.
var (
	writing   = []string{"Write", "WriteString", "WriteAt", "ReadFrom"}
	harmless  = []string{"Close", "Stat", "Name", "Sync", "Chmod", "Chown", "Chtimes", "Fd", "Truncate", "Seek", "ReadDir", "Readdir", "Readdirnames", "SyscallConn"}
	writesTo  = []string{"fmt.Fprint", "fmt.Fprintf", "fmt.Fprintln", "io.WriteString", "io.Copy", "io.CopyN", "io.CopyBuffer"}
	makesOfIt = []string{"NewEncoder", "NewWriter", "NewWriterSize"}
)

// rewritten returns the variable whose file the call writes, or nil, and whether
// it cuts the file.
func (c *checker) rewritten(call *ast.CallExpr) (file types.Object, cuts bool) {
	fn, ok := typeutil.Callee(c.TypesInfo, call).(*types.Func)
	if !ok {
		return nil, false
	}
	if c.writesTo(fn) && len(call.Args) > 0 {
		return c.tracer.Object(call.Args[0]), false
	}
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok || fn.FullName() != "(*os.File)."+fn.Name() {
		return nil, false
	}
	if cuts = fn.Name() == "Truncate"; cuts || slices.Contains(writing, fn.Name()) {
		return c.tracer.Object(sel.X), cuts
	}
	return nil, false
}

// writesTo reports whether fn writes to its first argument.
func (c *checker) writesTo(fn *types.Func) bool {
	return slices.Contains(writesTo, fn.FullName()) || slices.Contains(makesOfIt, fn.Name()) && fn.Signature().Recv() == nil
}

// reading returns the call that reads the file which call opens, or gives it to
// somebody who may: call itself if it is not told which. It returns nil if there
// is none.
func (c *checker) reading(call *ast.CallExpr) *ast.CallExpr {
	obj := c.result(call)
	if obj == nil {
		if cur, ok := c.root.FindNode(call); ok && !c.discarded(cur) {
			return call
		}
		return nil
	}
	for use := range c.uses(call, obj) {
		if !c.reads(use) {
			continue
		}
		for around := range use.Enclosing((*ast.CallExpr)(nil), (*ast.FuncLit)(nil)) {
			if by, ok := around.Node().(*ast.CallExpr); ok {
				return by
			}
			break
		}
		return call
	}
	return nil
}

// reads reports whether this use of a file may read it.
func (c *checker) reads(use inspector.Cursor) bool {
	switch parent := use.Parent().Node().(type) {
	case *ast.SelectorExpr:
		return !slices.Contains(harmless, parent.Sel.Name) && !slices.Contains(writing, parent.Sel.Name)
	case *ast.CallExpr:
		fn, ok := typeutil.Callee(c.TypesInfo, parent).(*types.Func)
		if ok && c.writesTo(fn) && parent.Args[0] == use.Node() {
			return false
		}
	}
	return !c.compared(use)
}
