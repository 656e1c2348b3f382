// Package program holds the code of one package in SSA form and answers from
// it which function a call calls and which value a variable holds. It does not
// follow values through the heap or into other packages.
package program

import (
	"go/ast"
	"go/token"
	"go/types"
	"iter"
	"reflect"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"
)

// Analyzer builds a [Package] for other checks. passes/buildssa would do, but
// it needs facts on every imported package: go vet would have to type-check the
// standard library first.
var Analyzer = &analysis.Analyzer{
	Name:       "program",
	Doc:        "builds the SSA form that other checks share",
	Run:        build,
	ResultType: reflect.TypeFor[*Package](),
}

// ErrorType is the type error.
var ErrorType = types.Universe.Lookup("error").Type()

// noReturn lists the functions that end the process or the goroutine.
var noReturn = []string{"os.Exit", "runtime.Goexit", "log.Fatal", "log.Fatalf", "log.Fatalln", "log.Panic", "log.Panicf", "log.Panicln"}

// A Package is one package in SSA form. Its methods only read it.
type Package struct {
	Types     *types.Package
	Functions []*ssa.Function // declared functions, literals and the initializer

	calls    map[token.Pos]*ast.CallExpr        // by the position of the parenthesis
	closures map[*ssa.Function]*ssa.MakeClosure // by literal
	stores   map[ssa.Value][]*ssa.Store         // by variable
	escaped  map[ssa.Value]bool                 // variables with an address that is passed on
	elements map[ssa.Value][]element            // by map or array
}

func build(pass *analysis.Pass) (any, error) {
	prog := ssa.NewProgram(pass.Fset, 0)
	prog.SetNoReturn(func(fn *types.Func) bool { return slices.Contains(noReturn, fn.FullName()) })
	for _, imported := range pass.Pkg.Imports() {
		prog.CreatePackage(imported, nil, nil, true)
	}
	built := prog.CreatePackage(pass.Pkg, pass.Files, pass.TypesInfo, false)
	built.Build()

	p := &Package{
		Types:    pass.Pkg,
		calls:    map[token.Pos]*ast.CallExpr{},
		closures: map[*ssa.Function]*ssa.MakeClosure{},
		stores:   map[ssa.Value][]*ssa.Store{},
		escaped:  map[ssa.Value]bool{},
		elements: map[ssa.Value][]element{},
	}
	p.declare(built.Func("init"))
	for _, file := range pass.Files {
		for n := range ast.Preorder(file) {
			switch n := n.(type) {
			case *ast.CallExpr:
				p.calls[n.Lparen] = n
			case *ast.FuncDecl:
				if fn, ok := pass.TypesInfo.Defs[n.Name].(*types.Func); ok {
					p.declare(prog.FuncValue(fn))
				}
			}
		}
	}
	p.index()
	return p, nil
}

// declare adds fn and the literals in it to the functions.
func (p *Package) declare(fn *ssa.Function) {
	p.Functions = append(p.Functions, fn)
	for _, literal := range fn.AnonFuncs {
		p.declare(literal)
	}
}

// index notes closures, then stores, then elements: each needs those before.
func (p *Package) index() {
	for instr := range Instructions(p.Functions...) {
		if closure, ok := instr.(*ssa.MakeClosure); ok {
			p.closures[closure.Fn.(*ssa.Function)] = closure
		}
	}
	for instr := range Instructions(p.Functions...) {
		store, isStore := instr.(*ssa.Store)
		for _, operand := range instr.Operands(nil) {
			variable := p.Variable(*operand)
			switch {
			case variable == nil:
			case isStore && store.Addr == *operand:
				p.stores[variable] = append(p.stores[variable], store)
			case isStore || !accesses(instr):
				p.escaped[variable] = true
			}
		}
	}
	for instr := range Instructions(p.Functions...) {
		switch instr := instr.(type) {
		case *ssa.MapUpdate:
			p.add(instr.Map, instr.Key, instr.Value)
		case *ssa.Store:
			if at, ok := instr.Addr.(*ssa.IndexAddr); ok {
				p.add(at.X, at.Index, instr.Val)
			}
		}
	}
}

// accesses reports whether instr reads or writes a variable, or a part of it,
// and does not pass its address on.
func accesses(instr ssa.Instruction) bool {
	switch instr.(type) {
	case *ssa.UnOp, *ssa.MakeClosure, *ssa.FieldAddr, *ssa.IndexAddr, *ssa.Slice:
		return true
	}
	return false
}

// Instructions yields the instructions of functions, of literals in them not.
func Instructions(functions ...*ssa.Function) iter.Seq[ssa.Instruction] {
	return func(yield func(ssa.Instruction) bool) {
		for _, fn := range functions {
			for _, block := range fn.Blocks {
				for _, instr := range block.Instrs {
					if !yield(instr) {
						return
					}
				}
			}
		}
	}
}

// Calls yields the calls among the instructions of functions.
func Calls(functions ...*ssa.Function) iter.Seq[ssa.CallInstruction] {
	return func(yield func(ssa.CallInstruction) bool) {
		for instr := range Instructions(functions...) {
			if call, ok := instr.(ssa.CallInstruction); ok && !yield(call) {
				return
			}
		}
	}
}

// Variable returns the variable that v is the address of, a [ssa.Alloc] or a
// [ssa.Global], also where v is a reference in a function literal; or nil.
func (p *Package) Variable(v ssa.Value) ssa.Value {
	switch v := v.(type) {
	case *ssa.Alloc, *ssa.Global:
		return v
	case *ssa.FreeVar:
		fn := v.Parent()
		if closure := p.closures[fn]; closure != nil {
			return p.Variable(closure.Bindings[slices.Index(fn.FreeVars, v)])
		}
	}
	return nil
}

// Value returns the only value that the variable v ever holds, or nil.
func (p *Package) Value(v ssa.Value) ssa.Value {
	if stores := p.stores[v]; len(stores) == 1 && !p.escaped[v] {
		return stores[0].Val
	}
	return nil
}

// Origin returns v before it was converted, put in an interface, and set to a
// variable, as far as one assignment decides the variable's value.
func (p *Package) Origin(v ssa.Value) ssa.Value {
	for range 100 { // x = x would go on for ever
		var from ssa.Value
		switch v := v.(type) {
		case *ssa.ChangeType, *ssa.ChangeInterface, *ssa.MakeInterface, *ssa.Convert:
			from = *v.(ssa.Instruction).Operands(nil)[0]
		case *ssa.UnOp:
			if variable := p.Variable(v.X); variable != nil && v.Op == token.MUL {
				if from = p.Value(variable); from == nil {
					from = p.decided(v, variable)
				}
			}
		}
		if from == nil {
			break
		}
		v = from
	}
	return v
}

// decided returns the value of the one assignment before load, in its block and
// in the blocks that lead there alone, or nil.
func (p *Package) decided(load *ssa.UnOp, variable ssa.Value) ssa.Value {
	inLiteral := func(s *ssa.Store) bool { return s.Addr != variable }
	if load.X != variable || p.escaped[variable] || slices.ContainsFunc(p.stores[variable], inLiteral) {
		return nil
	}
	block := load.Block()
	instrs := block.Instrs[:slices.Index(block.Instrs, ssa.Instruction(load))]
	for {
		for _, instr := range slices.Backward(instrs) {
			if store, ok := instr.(*ssa.Store); ok && store.Addr == variable {
				return store.Val
			}
		}
		if len(block.Preds) != 1 {
			return nil
		}
		block = block.Preds[0]
		instrs = block.Instrs
	}
}

// Callee returns the function that a call calls, also where a variable holds
// it, and the arguments, a receiver first. It returns nil if the code does not
// tell.
func (p *Package) Callee(call *ssa.CallCommon) (fn *ssa.Function, args []ssa.Value) {
	if call.IsInvoke() {
		return nil, nil
	}
	switch callee := p.Origin(call.Value).(type) {
	case *ssa.Function:
		fn, args = callee, call.Args
	case *ssa.MakeClosure:
		fn, args = callee.Fn.(*ssa.Function), call.Args
		if fn.Object() != nil { // a method value, which binds the receiver
			args = slices.Concat(callee.Bindings, args)
		}
	default:
		return nil, nil
	}
	if generic := fn.Origin(); generic != nil {
		fn = generic
	}
	return fn, args
}

// Name returns the full name of a declared function, or "".
func Name(fn *ssa.Function) string {
	if fn != nil {
		if obj, ok := fn.Object().(*types.Func); ok {
			return obj.FullName()
		}
	}
	return ""
}

// Syntax returns the expression of a call or a conversion, or nil if the
// compiler added it.
func (p *Package) Syntax(instr ssa.Instruction) *ast.CallExpr {
	if call, ok := instr.(ssa.CallInstruction); ok {
		return p.calls[call.Common().Pos()]
	}
	return p.calls[instr.Pos()]
}

// Place returns instr if it is in fn, or else the instruction of fn that makes
// the literal around it; nil if there is none.
func (p *Package) Place(instr ssa.Instruction, fn *ssa.Function) ssa.Instruction {
	for instr.Parent() != fn {
		closure := p.closures[instr.Parent()]
		if closure == nil {
			return nil
		}
		instr = closure
	}
	return instr
}

// Result returns the i-th result of a call, counting from the end if i is
// negative; nil if no instruction uses it.
func Result(call ssa.CallInstruction, i int) ssa.Value {
	results := call.Common().Signature().Results()
	if call.Value() == nil || results.Len() == 0 {
		return nil
	}
	for _, use := range *call.Value().Referrers() {
		extract, ok := use.(*ssa.Extract)
		if !ok {
			return call.Value()
		}
		if extract.Index == (i+results.Len())%results.Len() && len(*extract.Referrers()) > 0 {
			return extract
		}
	}
	return nil
}
