package fileflow

import (
	"cmp"
	"go/ast"
	"slices"

	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/program"
	"golang.org/x/tools/go/ssa"
)

// An Event is an operation on a file by a call, or by a function of the package
// that the call calls.
type Event struct {
	Op   Op
	Call ssa.CallInstruction // to report
	At   ssa.Instruction     // in the function with the event
	// Paths are those of the files: one, or of a command any number.
	Paths func(Env) []Path
	// Inner has the paths without the arguments of Call, if Call calls a
	// function of the package.
	Inner func(Env) []Path
	// File is the argument of Call that names the file, if one does.
	File ssa.Value

	Literal  bool // At makes the function literal with the call
	Deferred bool // the call is made when the function ends
	Handle   bool // the operation is through a handle, which has an event of its own
	// Hidden says that the operation means nothing to the function with the
	// event: the function that is called both reads and replaces the file, or
	// alone knows the file, or hands on nothing of it.
	Hidden bool
}

// Text is the text of the event's path; not for a command.
func (e Event) Text(env Env) string { return e.Paths(env)[0].Text }

// deepest bounds how far calls of functions of the package are followed.
const deepest = 3

// Events returns the events of a function, in the order of the text.
func (t *Tracer) Events(fn *ssa.Function) []Event { return t.events(fn, 0) }

type step struct {
	fn    *ssa.Function
	depth int
}

func (t *Tracer) events(fn *ssa.Function, depth int) (events []Event) {
	if depth > deepest {
		return nil
	}
	if known, ok := t.known[step{fn, depth}]; ok {
		return known
	}
	for instr := range program.Instructions(fn) {
		if call, ok := instr.(ssa.CallInstruction); ok && t.Syntax(call) != nil {
			events = append(events, t.direct(call)...)
			events = append(events, t.called(call, depth)...)
		}
		events = append(events, t.inLiterals(instr, depth)...)
	}
	slices.SortStableFunc(events, func(a, b Event) int { return cmp.Compare(a.Call.Pos(), b.Call.Pos()) })
	t.known[step{fn, depth}] = events
	return events
}

// direct returns the events of a call by itself, and those of the handle that
// it opens.
func (t *Tracer) direct(call ssa.CallInstruction) (events []Event) {
	_, deferred := call.(*ssa.Defer)
	for _, a := range t.accesses(call) {
		e := Event{Op: a.op, Call: call, At: call, File: a.path, Deferred: deferred}
		e.Paths = func(env Env) []Path { return []Path{t.under(a.root, a.path, env)} }
		e.Hidden = a.op == Read && t.onlyCompared(call)
		events = append(events, e)
		if a.op == Open || a.op == Update {
			events = append(events, t.throughHandle(e)...)
		}
	}
	if words := t.command(call); words != nil {
		events = append(events, Event{Op: Change, Call: call, At: call, Paths: words})
	}
	return events
}

// called returns the events of the function of this package that call calls.
func (t *Tracer) called(call ssa.CallInstruction, depth int) (events []Event) {
	fn, args := t.Callee(call.Common())
	if fn == nil || fn == t.literal(call) {
		return nil
	}
	declared := fn.Parent() == nil
	silent := declared && keeps(fn.Signature) || t.onlyCompared(call)
	_, deferred := call.(*ssa.Defer)
	for _, e := range lifted(t.events(fn, depth+1)) {
		inner := e.Paths
		e.Paths = func(env Env) []Path { return inner(t.bind(fn, args, env)) }
		e.Inner, e.File = inner, nil
		e.Call, e.At, e.Literal, e.Deferred = call, call, false, deferred
		for _, p := range e.Paths(nil) {
			e.Hidden = e.Hidden || e.Op == Read && silent || declared && p.within(fn)
		}
		events = append(events, e)
	}
	return events
}

// lifted returns the events of a function for its caller. Of a file that the
// function both reads and replaces, that function is reported.
func lifted(events []Event) []Event {
	does := map[Op]map[string]bool{Read: {}, Replace: {}}
	for _, e := range events {
		if does[e.Op] != nil && !e.Hidden {
			does[e.Op][e.Text(nil)] = true
		}
	}
	events = slices.Clone(events)
	for i, e := range events {
		if does[e.Op] != nil && does[Read][e.Text(nil)] && does[Replace][e.Text(nil)] {
			events[i].Hidden = true
		}
	}
	return events
}

// literal returns the function literal that call both makes and calls, or nil.
func (t *Tracer) literal(call ssa.CallInstruction) *ssa.Function {
	if _, ok := ast.Unparen(t.Syntax(call).Fun).(*ast.FuncLit); ok {
		fn, _ := t.Callee(call.Common())
		return fn
	}
	return nil
}

// inLiterals returns the events of the function literals that instr mentions:
// they count as happening there, whenever the literal is called.
func (t *Tracer) inLiterals(instr ssa.Instruction, depth int) (events []Event) {
	for _, operand := range instr.Operands(nil) {
		fn, ok := (*operand).(*ssa.Function)
		if !ok || fn.Parent() != instr.Parent() {
			continue
		}
		for _, e := range lifted(t.events(fn, depth+1)) {
			e.At, e.Literal, e.Deferred = instr, fn.Synthetic == "", onlyDeferred(instr)
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
