package readmodifywrite

import (
	"fmt"
	"go/token"
	"go/types"
	"slices"

	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/fileio"
	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/program"
	"golang.org/x/tools/go/ssa"
)

// reaches reports whether control may go on from the read to a write of the
// same file, by a way on which the read has not failed. Of function literals, it
// knows that they are called where they stand: two beside each other are two
// functions.
func (c *checker) reaches(read, write event) bool {
	if read.deferred || read.literal && write.literal {
		return false
	}
	want := read.path(nil).Text
	if write.deferred || read.at == write.at {
		return write.path(nil).Text == want
	}
	f := &flow{
		checker: c, read: read, write: write, want: want,
		err:     failure(read.at),
		again:   map[ssa.Value]bool{},
		matters: map[any]bool{},
		seen:    map[string]bool{},
	}
	for _, v := range c.Sources(read.from...) {
		f.again[v] = c.Path(v, nil).Opaque
	}
	for _, v := range c.Sources(write.from...) {
		f.matters[v] = true
		if field := program.Field(v); field != nil {
			f.matters[field] = true
		}
	}
	block := read.at.Block()
	return f.from(block, slices.Index(block.Instrs, read.at)+1, fileio.Env{})
}

// A flow follows control from a read to a write, and the path that the write
// would have. The values of an Env are as they were at the read; it has those
// that changed since.
type flow struct {
	*checker
	read, write event
	want        string             // the path that was read
	err         ssa.Value          // the error of the read, or nil
	again       map[ssa.Value]bool // values of the read's path that may be others if computed again
	matters     map[any]bool       // values, variables and fields that the write's path depends on
	seen        map[string]bool    // blocks, each with an Env
}

// from reports whether the write is reached from the i-th instruction of block.
func (f *flow) from(block *ssa.BasicBlock, i int, env fileio.Env) bool {
	for _, instr := range block.Instrs[i:] {
		switch {
		case instr == f.write.at && f.write.path(env).Text == f.want:
			return true
		case instr == f.read.at:
			return false
		}
		env = f.after(instr, env)
	}
	for i, next := range block.Succs {
		if f.failed(block, i == 0) {
			continue
		}
		entered := f.enter(next, block, env)
		if step := fmt.Sprint(next.Index, entered); !f.seen[step] && len(f.seen) < 1000 {
			f.seen[step] = true
			if f.from(next, 0, entered) {
				return true
			}
		}
	}
	return false
}

// after returns env after an instruction.
func (f *flow) after(instr ssa.Instruction, env fileio.Env) fileio.Env {
	if store, ok := instr.(*ssa.Store); ok {
		if variable := f.Variable(store.Addr); f.matters[variable] {
			return env.With(variable, f.Path(store.Val, env))
		}
		if field := program.Field(store.Addr); field != nil && f.matters[field] {
			return env.With(field, f.Anew(field))
		}
	}
	if v, ok := instr.(ssa.Value); ok && f.again[v] {
		return env.With(v, f.Anew(v))
	}
	return env
}

// enter returns env after control has gone from one block to another.
func (f *flow) enter(block, from *ssa.BasicBlock, env fileio.Env) fileio.Env {
	entered := env
	for _, instr := range block.Instrs {
		phi, ok := instr.(*ssa.Phi)
		if !ok {
			break
		}
		if f.matters[phi] {
			entered = entered.With(phi, f.Path(phi.Edges[slices.Index(block.Preds, from)], env))
		}
	}
	return entered
}

// failure returns the error of a call, or nil.
func failure(instr ssa.Instruction) ssa.Value {
	call, ok := instr.(*ssa.Call)
	if !ok {
		return nil
	}
	err := program.Result(call, -1)
	if err == nil || !types.Identical(err.Type(), errorType) {
		return nil
	}
	return err
}

// failed reports whether the read has failed if the condition at the end of
// block turns out as it does: then the write has nothing of the file.
func (f *flow) failed(block *ssa.BasicBlock, condition bool) bool {
	branch, ok := block.Instrs[len(block.Instrs)-1].(*ssa.If)
	return ok && f.err != nil && f.implies(branch.Cond, condition)
}

// kinds lists functions that compare the kind of an error, the first argument.
var kinds = []string{"errors.Is", "errors.As", "os.IsNotExist", "os.IsExist", "os.IsPermission"}

// implies reports whether the read has failed if x is condition.
func (f *flow) implies(x ssa.Value, condition bool) bool {
	switch x := x.(type) {
	case *ssa.UnOp:
		return x.Op == token.NOT && f.implies(x.X, !condition)
	case *ssa.Call:
		fn, args := f.Callee(&x.Call)
		return condition && slices.Contains(kinds, program.Name(fn)) && f.Origin(args[0]) == f.err
	case *ssa.BinOp:
		if f.Origin(x.X) != f.err {
			return false
		}
		if y, ok := x.Y.(*ssa.Const); ok && y.IsNil() {
			return condition == (x.Op == token.NEQ)
		}
		return condition && x.Op == token.EQL // err == fs.ErrNotExist
	}
	return false
}
