package readmodifywrite

import (
	"fmt"
	"go/token"
	"go/types"
	"slices"

	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/fileflow"
	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/program"
	"golang.org/x/tools/go/ssa"
)

// reaches reports whether control may go on from the read to a write of the
// same file, by a way on which the read has not failed. Of function literals, it
// knows that they are called where they stand: two beside each other are two
// functions.
func (c *checker) reaches(read, write fileflow.Event) bool {
	if read.Deferred || read.Literal && write.Literal {
		return false
	}
	want := read.Text(nil)
	if write.Deferred || read.At == write.At {
		return write.Text(nil) == want
	}
	f := &flow{
		checker: c, read: read.At, write: write, want: want,
		err:     failure(read.At),
		again:   c.Met(read.Paths),
		matters: c.Met(write.Paths),
		seen:    map[string]bool{},
	}
	block := read.At.Block()
	return f.from(block, slices.Index(block.Instrs, read.At)+1, fileflow.Env{})
}

// A flow follows control from a read to a write, and the path that the write
// would have. The values of an Env are as they were at the read; it has those
// that changed since.
type flow struct {
	*checker
	read    ssa.Instruction
	write   fileflow.Event
	want    string          // the path that was read
	err     ssa.Value       // the error of the read, or nil
	again   map[any]bool    // whether a value of the read's path may be another one if computed again
	matters map[any]bool    // has the values, variables and fields that the write's path depends on
	seen    map[string]bool // blocks, each with an Env
}

// from reports whether the write is reached from the i-th instruction of block.
func (f *flow) from(block *ssa.BasicBlock, i int, env fileflow.Env) bool {
	for _, instr := range block.Instrs[i:] {
		switch {
		case instr == f.write.At && f.write.Text(env) == f.want:
			return true
		case instr == f.read:
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
func (f *flow) after(instr ssa.Instruction, env fileflow.Env) fileflow.Env {
	if store, ok := instr.(*ssa.Store); ok {
		if variable := f.Variable(store.Addr); f.depends(variable) {
			return env.With(variable, f.Path(store.Val, env))
		}
		if field := program.Field(store.Addr); field != nil && f.depends(field) {
			return env.With(field, f.Anew(field))
		}
	}
	if v, ok := instr.(ssa.Value); ok && f.again[v] {
		return env.With(v, f.Anew(v))
	}
	return env
}

// depends reports whether the write's path depends on a value, variable or field.
func (f *flow) depends(on any) bool {
	_, ok := f.matters[on]
	return ok
}

// enter returns env after control has gone from one block to another.
func (f *flow) enter(block, from *ssa.BasicBlock, env fileflow.Env) fileflow.Env {
	entered := env
	for _, instr := range block.Instrs {
		phi, ok := instr.(*ssa.Phi)
		if !ok {
			break
		}
		if f.depends(phi) {
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
	if err == nil || !types.Identical(err.Type(), program.ErrorType) {
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
