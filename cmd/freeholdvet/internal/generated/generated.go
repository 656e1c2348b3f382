// Package generated recognizes Freehold's library and generated code by the
// shape and the place of their types. No declaration is needed, so that checks
// work on one package at a time; code that a person wrote in the same shape at
// the same place counts as generated.
package generated

import (
	"go/token"
	"go/types"
	"path"
	"path/filepath"
	"strings"

	"github.com/freehold-dev/freehold/gen"
	"github.com/freehold-dev/freehold/schema/declare"
)

// The import paths of the library that the checks know, and the function that
// makes the name of a sidecar.
const (
	Library = "github.com/freehold-dev/freehold"
	Sidecar = Library + "/sidecar"
	Store   = Sidecar + "/store"
	Adopt   = Sidecar + "/adopt"
	Prune   = Sidecar + "/prune"
	Repair  = Sidecar + "/repair"
	Upgrade = Sidecar + "/upgrade"
	Retire  = Sidecar + "/retire"
	Reader  = Library + "/reader"
	Command = Library + "/cmd/freehold"
	Verbs   = Library + "/cmd/internal"

	SidecarName = Store + ".Sidecar"
)

// Imports returns pkg and all packages that pkg imports, also indirectly, by path.
func Imports(pkg *types.Package) map[string]*types.Package {
	all := map[string]*types.Package{}
	var visit func(p *types.Package)
	visit = func(p *types.Package) {
		if all[p.Path()] == nil {
			all[p.Path()] = p
			for _, imported := range p.Imports() {
				visit(imported)
			}
		}
	}
	visit(pkg)
	return all
}

// Writer reports whether pkg is an owner's writer package. Of a package that is
// imported indirectly, only the types that the importers mention need be there.
func Writer(pkg *types.Package) bool {
	return writerPath(pkg.Path()) && (wraps(pkg, "Writer") || wraps(pkg, "Tx"))
}

// Writes reports whether t is an owner's Tx, or a pointer to its Writer.
func Writes(t types.Type) bool {
	name := "Tx"
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t, name = p.Elem(), "Writer"
	}
	named, ok := types.Unalias(t).(*types.Named)
	return ok && named.Obj().Name() == name && named.Obj().Pkg() != nil && Writer(named.Obj().Pkg())
}

// Within reports whether the package at importPath, or the one that it tests,
// is root or below it.
func Within(importPath, root string) bool {
	importPath = strings.TrimSuffix(importPath, "_test")
	return importPath == root || strings.HasPrefix(importPath, root+"/")
}

// Private reports whether only generated code or a home may call the package at
// importPath: the part of the library that writes, or a path as writer packages
// have.
func Private(importPath string) bool { return Within(importPath, Sidecar) || writerPath(importPath) }

// writerPath reports whether importPath is where a writer package would be.
func writerPath(importPath string) bool {
	dir, name := path.Split(importPath)
	owner, ok := strings.CutSuffix(name, declare.WriterPackage(""))
	return ok && owner != "" && path.Base(dir) == "internal"
}

// wraps reports whether pkg has a type name that is a struct of one field, a
// pointer to the library's type of this name.
func wraps(pkg *types.Package, name string) bool {
	obj, ok := pkg.Scope().Lookup(name).(*types.TypeName)
	if !ok {
		return false
	}
	s, ok := obj.Type().Underlying().(*types.Struct)
	if !ok || s.NumFields() != 1 || s.Field(0).Exported() {
		return false
	}
	return IsPointerTo(s.Field(0).Type(), Sidecar, name)
}

// IsPointerTo reports whether t is a pointer to the type of this name in the
// package at importPath.
func IsPointerTo(t types.Type, importPath, name string) bool {
	p, ok := types.Unalias(t).(*types.Pointer)
	return ok && Is(p.Elem(), importPath, name)
}

// Is reports whether t is the type of this name in the package at importPath.
func Is(t types.Type, importPath, name string) bool {
	named, ok := types.Unalias(t).(*types.Named)
	if !ok {
		return false
	}
	obj := named.Obj()
	return obj.Name() == name && obj.Pkg() != nil && obj.Pkg().Path() == importPath
}

// Handle returns the name of the type t if only generated code and the library
// may make or take apart its values: an owner's Writer or Tx, a field's handle,
// or a generated enum.
func Handle(fset *token.FileSet, t types.Type) (name string, ok bool) {
	named, ok := types.Unalias(t).(*types.Named)
	if !ok || named.Obj().Pkg() == nil {
		return "", false
	}
	obj := named.Obj()
	s, ok := named.Underlying().(*types.Struct)
	if !ok || !opaque(s) {
		return "", false
	}
	switch {
	case obj.Pkg().Path() == Sidecar, Writer(obj.Pkg()):
	case enum(s) && gen.IsViewFile(filepath.Base(fset.Position(obj.Pos()).Filename)):
	default:
		return "", false
	}
	return obj.Pkg().Name() + "." + obj.Name(), true
}

// opaque reports whether s has fields and exports none.
func opaque(s *types.Struct) bool {
	for f := range s.Fields() {
		if f.Exported() {
			return false
		}
	}
	return s.NumFields() > 0
}

// enum reports whether s has the shape of a generated enum.
func enum(s *types.Struct) bool {
	return s.NumFields() == 1 && types.Identical(s.Field(0).Type(), types.Typ[types.String])
}
