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
var Analyzer = check.New("rawsidecar", doc, "in a tool that is made to write for any owner", run)

// mayUse lists the packages that are made to use the raw library: the library
// itself, and the program for people and shells.
var mayUse = []string{generated.Sidecar, generated.Reader, generated.Command, generated.Verbs}

// harmless lists, by package, the functions that only read, compute or end a
// process. All others open, change or lock a state: a new function is reported
// until this list has its name.
var harmless = map[string][]string{
	generated.Sidecar: {
		"LeaseStatus", "Resolve", "ResolveClaim", "WasAccepted",
	},
	generated.Store: {
		"Accepted", "By", "ClaimFile", "FileSystem", "FilesOf", "Find", "Folded", "FoldedSource", "Folders", "GatheringIn", "Holder", "Instances", "Kept", "Leftovers", "Locked", "Lost",
		"Manifest", "ManifestText", "NewOnce", "On", "Once", "OnceSource", "Open", "OpenInstance", "Owner", "OwnerIn", "ParseManifest", "Patches", "Path", "Quarantined", "Remedies", "RemedyOf",
		"SameManifest", "Scan", "SeenOf", "SightingsOf", "Source", "TokenOf", "Unmoved", "Upgraded", "User", "WithRemedy",
	},
	generated.Adopt:   {"Extend", "Infer", "Parse", "Read", "Source"},
	generated.Prune:   nil,
	generated.Repair:  nil,
	generated.Upgrade: nil,
}

// rawTypes lists, by package, the types with methods that are judged as functions
// are. Values of other types come from these.
var rawTypes = map[string][]string{
	generated.Sidecar: {"Writer", "Tx", "Entry"},
	generated.Store:   {"Store"},
	generated.Adopt:   {"Plan", "Legacy", "Inferred"},
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
				pass.Findf(id, "%s.%s writes past the owner's writer package: call that package below the owner's home, or a verb that the home exports", fn.Pkg().Name(), fn.Name())
			}
		}
	}
}

// imports reports whether pkg itself imports the raw library. Otherwise pkg can
// only call methods of values that other packages pass in.
func imports(pkg *types.Package) bool {
	return slices.ContainsFunc(pkg.Imports(), func(p *types.Package) bool { return judged(p.Path()) })
}

func judged(importPath string) bool {
	_, ok := harmless[importPath]
	return ok
}

// raw reports whether fn opens, changes or locks a state, or may.
func raw(fn *types.Func) bool {
	if fn.Pkg() == nil || !judged(fn.Pkg().Path()) || fn.Name() == "Close" || slices.Contains(harmless[fn.Pkg().Path()], fn.Name()) {
		return false
	}
	recv := fn.Signature().Recv()
	return recv == nil || slices.ContainsFunc(rawTypes[fn.Pkg().Path()], func(name string) bool {
		return generated.IsPointerTo(recv.Type(), fn.Pkg().Path(), name) || generated.Is(recv.Type(), fn.Pkg().Path(), name)
	})
}
