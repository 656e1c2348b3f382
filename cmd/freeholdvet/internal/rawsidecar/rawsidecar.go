package rawsidecar

import (
	_ "embed"
	"go/ast"
	"go/types"
	"slices"

	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/check"
	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/generated"
)

//go:embed doc.go
var doc string

// Analyzer is the check.
var Analyzer = check.New("rawsidecar", doc, run)

// mayUse lists the packages that are made to use the raw library: itself, and
// the program for people and shells.
var mayUse = []string{generated.Sidecar, generated.Reader, generated.Library + "/cmd/freehold"}

// rawNames lists what is raw although its types do not show it.
var rawNames = map[string][]string{
	generated.Sidecar: {"Accept", "Create", "CreateInstance", "Quarantine"},
	generated.StateDir: {
		"Attend", "Claim", "Collect", "Create", "CreateInstance", "Drop", "Install", "Keep", "KeepOut", "LockAll", "OpenAside", "OpenLock",
		"Quarantine", "QuarantineRecord", "RemoveLeftover", "Repair", "Root", "Seize", "Stage", "Unstage", "Upgrade", "WriteManifest", "WriteRecord",
	},
	generated.Sidecar + "/adopt":   {"Apply"},
	generated.Sidecar + "/prune":   {"Run"},
	generated.Sidecar + "/upgrade": {"Run"},
}

func run(pass *check.Pass) {
	if !imports(pass.Pkg) || slices.ContainsFunc(mayUse, func(root string) bool { return generated.Within(pass.Pkg.Path(), root) }) {
		return
	}
	for _, file := range pass.Files {
		if !pass.ByHand(file.Package) {
			continue
		}
		for n := range ast.Preorder(file) {
			id, ok := n.(*ast.Ident)
			if !ok {
				continue
			}
			if fn, ok := pass.TypesInfo.Uses[id].(*types.Func); ok && raw(fn) {
				pass.Findf(id, "%s.%s writes for whatever owner it is told: call the writer package below that owner's home, or a verb that the home exports", fn.Pkg().Name(), fn.Name())
			}
		}
	}
}

// imports reports whether pkg itself imports the raw library. Without that it
// has no function of it, and a method only of what it was given.
func imports(pkg *types.Package) bool {
	return slices.ContainsFunc(pkg.Imports(), func(p *types.Package) bool { return rawNames[p.Path()] != nil })
}

// raw reports whether fn opens, changes or locks a state.
func raw(fn *types.Func) bool {
	if fn.Pkg() == nil || fn.Name() == "Close" {
		return false
	}
	path, sig := fn.Pkg().Path(), fn.Signature()
	if slices.Contains(rawNames[path], fn.Name()) {
		return true
	}
	if path != generated.Sidecar {
		return false
	}
	if recv := sig.Recv(); recv != nil {
		return isRaw(recv.Type())
	}
	for v := range sig.Params().Variables() {
		if isRaw(v.Type()) {
			return true
		}
	}
	for v := range sig.Results().Variables() {
		if isRaw(v.Type()) || generated.Is(v.Type(), generated.Sidecar, "Commit") {
			return true
		}
	}
	return false
}

// isRaw reports whether t is what generated code wraps.
func isRaw(t types.Type) bool {
	return generated.IsPointerTo(t, generated.Sidecar, "Writer") ||
		generated.IsPointerTo(t, generated.Sidecar, "Tx") ||
		generated.Is(t, generated.Sidecar, "Entry")
}
