package readmodifywrite

import (
	"cmp"
	_ "embed"
	"fmt"
	"go/ast"
	"path/filepath"
	"slices"

	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/check"
	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/fileio"
	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/program"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"
)

//go:embed doc.go
var doc string

// Analyzer is the check.
var Analyzer = check.New("readmodifywrite", doc, run, program.Analyzer)

func run(pass *check.Pass) {
	if !fileio.Imported(pass.Pkg) {
		return
	}
	p := pass.ResultOf[program.Analyzer].(*program.Package)
	c := &checker{Pass: pass, Tracer: fileio.NewTracer(p), touches: map[*ssa.Function]bool{}}
	for _, fn := range p.Functions {
		c.function(fn)
	}
}

// A checker checks the functions of one package.
type checker struct {
	*check.Pass
	*fileio.Tracer
	touches map[*ssa.Function]bool // whether a function accesses files
}

// function reports each file that a function reads and then rewrites, once.
func (c *checker) function(fn *ssa.Function) {
	if !c.accesses(fn) {
		return
	}
	events := c.events(fn, 0)
	reported := map[string]bool{}
	for _, write := range events {
		if write.op != fileio.Replace || !c.ByHand(write.call.Pos()) {
			continue
		}
		for _, read := range events {
			text := read.path(nil).Text
			if read.op == fileio.Read && !reported[text] && c.reaches(read, write) {
				reported[text] = true
				c.report(read, write)
				break
			}
		}
	}
}

func (c *checker) report(read, write event) {
	at, call := c.Syntax(read.call), c.Syntax(write.call)
	from := c.Fset.Position(at.Pos())
	c.Find(analysis.Diagnostic{
		Pos: call.Pos(),
		End: call.End(),
		Message: fmt.Sprintf("this rewrites the file that was read at %s:%d, so another process's write in between is lost: declare the file's fields in owners.yaml and write through their owner's Update, or allow it and say why no other process writes the file",
			filepath.Base(from.Filename), from.Line),
		Related: []analysis.RelatedInformation{{Pos: at.Pos(), End: at.End(), Message: "read here"}},
	})
}

// An event is that a call, or a function that it calls, reads or replaces a file.
type event struct {
	op   fileio.Op
	call ssa.CallInstruction // to report
	at   ssa.Instruction     // in the function that is checked
	path func(fileio.Env) fileio.Path
	from []ssa.Value // that path depends on

	literal  bool // at makes the function literal that the call is in
	deferred bool // the call is made when the function ends
}

// deepest bounds how far calls of functions of the package are followed.
const deepest = 3

// events returns those of a function, in the order of the text.
func (c *checker) events(fn *ssa.Function, depth int) (events []event) {
	for instr := range program.Instructions(fn) {
		if call, ok := instr.(ssa.CallInstruction); ok && c.Syntax(call) != nil {
			events = append(events, c.direct(call)...)
			events = append(events, c.called(call, depth)...)
		}
		events = append(events, c.inLiterals(instr, depth)...)
	}
	slices.SortStableFunc(events, func(a, b event) int { return cmp.Compare(a.call.Pos(), b.call.Pos()) })
	return events
}

// direct returns the events of a call by itself, and those of the handle that
// it opens.
func (c *checker) direct(call ssa.CallInstruction) (events []event) {
	for _, access := range c.Accesses(call) {
		_, deferred := call.(*ssa.Defer)
		e := event{op: access.Op, call: call, at: call, deferred: deferred, from: []ssa.Value{access.Path, access.Root}}
		e.path = func(env fileio.Env) fileio.Path { return c.Of(access.Root, access.Path, env) }
		switch {
		case e.op == fileio.Open, e.op == fileio.Update:
			events = append(events, c.throughHandle(e)...)
		case e.op == fileio.Replace, e.op == fileio.Read && !c.onlyCompared(call):
			events = append(events, e)
		}
	}
	return events
}

// called returns the events of the function of this package that call calls,
// as far as they have a meaning outside of it. Of a file that it both reads and
// replaces, that function is reported.
func (c *checker) called(call ssa.CallInstruction, depth int) (events []event) {
	fn, args := c.Callee(call.Common())
	if depth == deepest || fn == nil || !c.accesses(fn) || fn == c.literal(call) {
		return nil
	}
	declared := fn.Parent() == nil
	silent := declared && keeps(fn.Signature) || c.onlyCompared(call)
	_, deferred := call.(*ssa.Defer)
	for _, e := range c.alone(c.events(fn, depth+1)) {
		path := e.path
		e.path = func(env fileio.Env) fileio.Path { return path(c.Bind(fn, args, env)) }
		e.from = slices.Concat(e.from, args)
		e.call, e.at, e.literal, e.deferred = call, call, false, deferred
		if e.op == fileio.Read && silent || declared && e.path(nil).Within(fn) {
			continue
		}
		events = append(events, e)
	}
	return events
}

// alone returns the events whose file is not both read and replaced.
func (c *checker) alone(events []event) []event {
	does := map[fileio.Op]map[string]bool{fileio.Read: {}, fileio.Replace: {}}
	for _, e := range events {
		does[e.op][e.path(nil).Text] = true
	}
	return slices.DeleteFunc(events, func(e event) bool {
		text := e.path(nil).Text
		return does[fileio.Read][text] && does[fileio.Replace][text]
	})
}

// literal returns the function literal that call both makes and calls, or nil.
func (c *checker) literal(call ssa.CallInstruction) *ssa.Function {
	if _, ok := ast.Unparen(c.Syntax(call).Fun).(*ast.FuncLit); ok {
		fn, _ := c.Callee(call.Common())
		return fn
	}
	return nil
}

// inLiterals returns the events of the function literals that instr mentions:
// they count as happening there, whenever the literal is called.
func (c *checker) inLiterals(instr ssa.Instruction, depth int) (events []event) {
	for _, operand := range instr.Operands(nil) {
		fn, ok := (*operand).(*ssa.Function)
		if !ok || fn.Parent() != instr.Parent() || depth == deepest || !c.accesses(fn) {
			continue
		}
		for _, e := range c.alone(c.events(fn, depth+1)) {
			e.at, e.literal, e.deferred = instr, fn.Synthetic == "", onlyDeferred(instr)
			events = append(events, e)
		}
	}
	return events
}

// onlyDeferred reports whether instr, which makes a function, defers it.
func onlyDeferred(instr ssa.Instruction) bool {
	if closure, ok := instr.(*ssa.MakeClosure); ok {
		return !slices.ContainsFunc(*closure.Referrers(), func(use ssa.Instruction) bool { return !onlyDeferred(use) })
	}
	_, ok := instr.(*ssa.Defer)
	return ok
}

// accesses reports whether a function, or one of this package that it calls or
// makes, accesses files.
func (c *checker) accesses(fn *ssa.Function) bool {
	if known, ok := c.touches[fn]; ok {
		return known
	}
	c.touches[fn] = false // while the answer is not known
	touches := slices.ContainsFunc(fn.AnonFuncs, c.accesses)
	for call := range program.Calls(fn) {
		callee, _ := c.Callee(call.Common())
		touches = touches || len(c.Accesses(call)) > 0 || callee != nil && c.accesses(callee)
	}
	c.touches[fn] = touches
	return touches
}
