package boxedhandle

import (
	_ "embed"
	"go/token"
	"go/types"

	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/check"
	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/generated"
	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/program"
	"github.com/freehold-dev/freehold/gen/leak"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"
)

//go:embed doc.go
var doc string

// Analyzer is the check.
var Analyzer = check.New("boxedhandle", doc, "where no other code gets the interface", run, program.Analyzer)

func run(pass *check.Pass) {
	if generated.Within(pass.Pkg.Path(), generated.Sidecar) || generated.Writer(pass.Pkg) || !importsWriter(pass.Pkg) {
		return
	}
	for instr := range program.Instructions(pass.ResultOf[program.Analyzer].(*program.Package).Functions...) {
		switch instr := instr.(type) {
		case *ssa.MakeInterface:
			if name, ok := gives(instr.X.Type(), 5); ok {
				pass.Findf(at(instr), "%s goes into an interface, %s, and can be taken out again: pass a function that does the writing", name, types.TypeString(instr.Type(), types.RelativeTo(pass.Pkg)))
			}
		case *ssa.TypeAssert:
			if name, ok := gives(instr.AssertedType, 5); ok {
				pass.Findf(at(instr), "this takes %s out of an interface: call a verb that the owner's home exports", name)
			}
		}
	}
}

// importsWriter reports whether pkg comes by a writer package, also indirectly.
func importsWriter(pkg *types.Package) bool {
	for _, p := range generated.Imports(pkg) {
		if generated.Writer(p) {
			return true
		}
	}
	return false
}

// at returns the place of instr, or that of the call, return or assignment that
// uses its value, for which Go converts without a word.
func at(instr interface {
	ssa.Instruction
	ssa.Value
}) analysis.Range {
	pos := instr.Pos()
	for _, user := range *instr.Referrers() {
		if !pos.IsValid() {
			pos = user.Pos()
		}
	}
	if !pos.IsValid() {
		pos = instr.Parent().Pos()
	}
	return place(pos)
}

type place token.Pos

func (p place) Pos() token.Pos { return token.Pos(p) }
func (p place) End() token.Pos { return token.Pos(p) }

// gives returns the name of a handle that the holder of a t can come by, down to
// a depth.
func gives(t types.Type, depth int) (string, bool) {
	if depth == 0 {
		return "", false
	}
	if named, ok := types.Unalias(t).(*types.Named); ok && named.Obj().Pkg() != nil {
		switch obj := named.Obj(); {
		case leak.IsHandle(obj), generated.Writer(obj.Pkg()) && obj.Exported():
			return obj.Pkg().Name() + "." + obj.Name(), true
		case !generated.Within(obj.Pkg().Path(), generated.Library):
			if name, ok := methodsGive(t, depth); ok {
				return name, true
			}
		default:
			return "", false // the library's own types are judged by leak
		}
	}
	switch t := t.Underlying().(type) {
	case *types.Map:
		return gives(t.Elem(), depth-1)
	case interface{ Elem() types.Type }: // a pointer, array, slice or channel
		return gives(t.Elem(), depth-1)
	case *types.Signature:
		for v := range t.Results().Variables() {
			if name, ok := gives(v.Type(), depth-1); ok {
				return name, true
			}
		}
	case *types.Struct:
		for f := range t.Fields() {
			if f.Exported() {
				if name, ok := gives(f.Type(), depth-1); ok {
					return name, true
				}
			}
		}
	case *types.Interface:
		return methodsGive(t, depth)
	}
	return "", false
}

// methodsGive returns the name of a handle that an exported method of t returns.
func methodsGive(t types.Type, depth int) (string, bool) {
	if _, isInterface := t.Underlying().(*types.Interface); !isInterface {
		t = types.NewPointer(t)
	}
	for m := range types.NewMethodSet(t).Methods() {
		if m.Obj().Exported() {
			if name, ok := gives(m.Type(), depth-1); ok {
				return name, true
			}
		}
	}
	return "", false
}
