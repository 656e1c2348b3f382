package readmodifywrite

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/fileio"
	"golang.org/x/tools/go/cfg"
	"golang.org/x/tools/go/types/typeutil"
)

// reaches reports whether control may go on from the read to the write while
// the path still means the same file. Of function literals, it knows that they
// run where they stand: two beside each other are two functions.
func (c *checker) reaches(body *ast.BlockStmt, read, write event) bool {
	body, ok := c.common(body, read, write)
	if !ok || c.deferred(body, read) {
		return false
	}
	if c.deferred(body, write) {
		return true
	}
	f := &flow{checker: c, write: write, err: c.failure(read.call), seen: map[step]bool{}}
	for _, block := range cfg.New(body, c.mayReturn).Blocks {
		for i, node := range block.Nodes {
			if !contains(node, read.call) {
				continue
			}
			if contains(node, write.call) {
				return contains(write.call, read.call) || read.call.Pos() < write.call.Pos()
			}
			return f.from(block, i+1, f.err != nil)
		}
	}
	return false
}

// contains reports whether m is n or in it.
func contains(n, m ast.Node) bool { return n.Pos() <= m.Pos() && m.End() <= n.End() }

// common returns the innermost function body that has both events in it, and
// whether one of them is in no function literal there.
func (c *checker) common(body *ast.BlockStmt, read, write event) (*ast.BlockStmt, bool) {
	for {
		var readIn, writeIn *ast.FuncLit
		ast.Inspect(body, func(n ast.Node) bool {
			lit, ok := n.(*ast.FuncLit)
			if !ok {
				return true
			}
			if contains(lit, read.call) {
				readIn = lit
			}
			if contains(lit, write.call) {
				writeIn = lit
			}
			return false
		})
		if readIn == nil || readIn != writeIn {
			return body, readIn == nil || writeIn == nil
		}
		body = readIn.Body
	}
}

// deferred reports whether the event happens when the function of this body
// ends.
func (c *checker) deferred(body *ast.BlockStmt, e event) bool {
	cur, ok := c.root.FindNode(e.call)
	if !ok {
		return false
	}
	for around := range cur.Enclosing((*ast.DeferStmt)(nil)) {
		return contains(body, around.Node())
	}
	return false
}

// mayReturn reports whether control goes on after call.
func (c *checker) mayReturn(call *ast.CallExpr) bool {
	switch fn := typeutil.Callee(c.TypesInfo, call).(type) {
	case *types.Builtin:
		return fn.Name() != "panic"
	case *types.Func:
		return !slices.Contains([]string{"os.Exit", "runtime.Goexit", "log.Fatal", "log.Fatalf", "log.Fatalln", "log.Panic", "log.Panicf", "log.Panicln"}, fn.FullName())
	}
	return true
}

// A flow follows control from a read to a write.
type flow struct {
	*checker
	write event
	err   types.Object // the error of the read, or nil
	seen  map[step]bool
}

// A step is that control enters a block, while the variable still holds the
// error of the read or not.
type step struct {
	block *cfg.Block
	fresh bool
}

// from reports whether the write is reached from the i-th node of the block by
// a way on which the read has not failed.
func (f *flow) from(block *cfg.Block, i int, fresh bool) bool {
	for _, node := range block.Nodes[i:] {
		if contains(node, f.write.call) {
			return true
		}
		if f.assigns(node, f.write.path.Vars...) {
			return false
		}
		fresh = fresh && !f.assigns(node, f.err)
	}
	for i, next := range block.Succs {
		if fresh && len(block.Succs) == 2 && f.failed(block.Nodes, i == 0) {
			continue
		}
		if next.Kind == cfg.KindRangeLoop && f.sets(next.Stmt, f.write.path.Vars) {
			continue
		}
		if to := (step{next, fresh}); !f.seen[to] {
			f.seen[to] = true
			if f.from(next, 0, fresh) {
				return true
			}
		}
	}
	return false
}

// assigns reports whether node gives one of the variables another value.
func (f *flow) assigns(node ast.Node, vars ...types.Object) bool {
	for n := range ast.Preorder(node) {
		if f.sets(n, vars) {
			return true
		}
	}
	return false
}

func (f *flow) sets(n ast.Node, vars []types.Object) bool {
	lhs, _ := fileio.Assigned(n)
	return slices.ContainsFunc(lhs, func(x ast.Expr) bool { return slices.Contains(vars, f.tracer.Object(x)) })
}
