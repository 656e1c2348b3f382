// Package leak finds exported API that hands an owner's writer to code outside
// of the owner's home. The toolchain refuses an import of a writer package
// there, but not a call of a function that returns one of its types:
//
//	package reset // WRONG: every importer of reset can write reset's fields
//
//	func Open(ctx context.Context, dir string) (*resetfile.Writer, error)
//
//	package reset // RIGHT: a verb, which writes the fields itself
//
//	func Stamp(ctx context.Context, dir string) error
//
// The handles in package sidecar, such as Tx and Max, leak too: an interface
// with methods that return them has room for a writer's Tx without naming it.
//
// [Load] looks at every Go file of a module that can be made to compile, whatever
// its build constraint and folder. Leak compares types. It finds neither a writer
// inside an interface value, such as an any, nor one that is called through a
// function value.
package leak

import (
	"context"
	"errors"
	"fmt"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// A Leak is an exported name that mentions a writer package, or a handle of
// package sidecar.
type Leak struct {
	// Pos is the place of the name, in the file set of the package.
	Pos token.Pos
	// Text names the leak and the remedy.
	Text string
}

// Check returns the leaks of pkg, sorted by name. isWriter reports whether an
// import path is that of a writer package. module is the path of the module:
// types from elsewhere mention its writers in type arguments only.
//
// No package can import a program, but one built as a plugin gives away its
// exported functions and variables. A package leaks
// nothing if all its importers may import the writer too; where another package
// exports its types, Check looks into them there.
func Check(pkg *types.Package, module string, isWriter func(path string) bool) []Leak {
	c := &checker{pkg: pkg, module: module, isWriter: isWriter, reach: reach(pkg.Path())}
	program := pkg.Name() == "main"
	if program {
		c.reach = ""
	}
	c.handlesLeak = !c.mayExportHandles()
	scope := pkg.Scope()
	for _, name := range scope.Names() {
		obj := scope.Lookup(name)
		if !obj.Exported() {
			continue
		}
		w := &walk{checker: c, name: name, pos: obj.Pos(), seen: map[types.Type]bool{}}
		if declared, ok := obj.(*types.TypeName); !ok {
			w.typ(obj.Type())
		} else if !program { // a plugin's types cannot be looked up
			w.declaration(declared)
		}
	}
	slices.SortStableFunc(c.leaks, func(a, b Leak) int { return strings.Compare(a.Text, b.Text) })
	return slices.Compact(c.leaks)
}

// Load applies [Check] to all packages of the module at dir with the path module,
// and to the files that the go command passes over: those that another build
// constraint, another system or an import by path would compile. The packages of
// other modules that the module imports are checked too, if they import a writer:
// the path of such a module is below a home. It returns a
// line for each leak, with its place relative to dir, and an error if the module
// cannot be loaded. Code that does not compile is checked as far as possible.
func Load(ctx context.Context, dir, module string, isWriter func(path string) bool) ([]string, error) {
	loaded, err := packages.Load(&packages.Config{
		Context: ctx,
		Dir:     dir,
		// NeedSyntax reads the module's own packages from source, so that one
		// that does not compile is not passed over.
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedExportFile,
	}, "./...")
	if err != nil {
		return nil, fmt.Errorf("load the packages of %s: %w; see the output of `go list ./...` there", module, err)
	}
	root, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	var found []string
	check := func(fset *token.FileSet, p *types.Package) {
		for _, l := range Check(p, module, isWriter) {
			position := fset.Position(l.Pos)
			if name, err := filepath.Rel(root, position.Filename); err == nil {
				position.Filename = name
			}
			if line := position.String() + ": " + l.Text; !slices.Contains(found, line) {
				found = append(found, line)
			}
		}
	}
	var problems []error
	for _, p := range loaded {
		if p.Types != nil {
			check(p.Fset, p.Types)
			continue
		}
		for _, problem := range p.Errors {
			problems = append(problems, problem)
		}
	}
	rest, err := restOf(root, module, loaded)
	if err != nil {
		problems = append(problems, err)
	}
	rest.packages(func(p *types.Package) { check(rest.fset, p) })
	for _, p := range rest.imported(loaded, isWriter) {
		check(loaded[0].Fset, p)
	}
	return found, errors.Join(problems...)
}

// reach returns the path below which Go lets all packages import the package at
// importPath: the parent of the last element "internal". The empty path stands
// for all packages.
func reach(importPath string) string {
	i := strings.LastIndex("/"+importPath+"/", "/internal/")
	return importPath[:max(i-1, 0)]
}

// within reports whether the path inner is outer or below it.
func within(inner, outer string) bool {
	return outer == "" || inner == outer || strings.HasPrefix(inner, outer+"/")
}

// A checker walks the types that one package exports.
type checker struct {
	pkg         *types.Package
	module      string
	isWriter    func(path string) bool
	reach       string // of pkg
	handlesLeak bool
	leaks       []Leak
}

// sidecar is the package with the handles that writer packages are made of.
const sidecar = "github.com/freehold-dev/freehold/sidecar"

var handles = []string{"Counter", "DependentCounter", "DependentMax", "DependentMin", "DependentValue", "Entry", "Event", "Map", "Max", "Min", "Once", "Part", "Set", "Tx", "Value", "Writer"}

// IsHandle reports whether obj is a type of package sidecar that writes.
func IsHandle(obj *types.TypeName) bool {
	return obj.Pkg() != nil && obj.Pkg().Path() == sidecar && slices.Contains(handles, obj.Name())
}

// mayExportHandles reports whether c's package is the library, a writer package,
// or an internal package of the home of a writer that it imports, also
// indirectly. An internal package without a writer has no handle to hand out.
func (c *checker) mayExportHandles() bool {
	if within(c.pkg.Path(), sidecar) || c.isWriter(c.pkg.Path()) {
		return true
	}
	if c.reach == "" {
		return false
	}
	imported, atHome := false, false
	seen := map[*types.Package]bool{}
	var visit func(p *types.Package)
	visit = func(p *types.Package) {
		if seen[p] {
			return
		}
		seen[p] = true
		if c.isWriter(p.Path()) {
			imported = true
			atHome = atHome || within(c.reach, reach(p.Path()))
		}
		for _, next := range p.Imports() {
			visit(next)
		}
	}
	visit(c.pkg)
	return atHome || !imported
}
