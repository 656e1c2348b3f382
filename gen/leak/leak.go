package leak

import (
	"fmt"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strings"
)

// A Leak is an exported name that mentions a writer package, or a type of
// package sidecar that lets its holder write.
type Leak struct {
	// Package and Name of what is exported: "Stamp", "Bag.Writer" for a
	// field or a method.
	Package, Name string
	// Handle is what it mentions: the path of a writer package, or a type such
	// as "sidecar.Tx".
	Handle string
	// Pos is where the name is declared, in the file set of the package.
	Pos token.Pos
}

// String says what leaks and what to do.
func (l Leak) String() string {
	what := "its writer"
	if strings.HasPrefix(l.Handle, rawPrefix) {
		what = "a handle to write with"
	}
	return fmt.Sprintf("%s.%s mentions %s, so whoever imports %s can come by %s: export a function that does the writing instead",
		path.Base(l.Package), l.Name, l.Handle, l.Package, what)
}

// Check returns what pkg leaks of the packages for which writer, given an
// import path, is true, and of package sidecar's handles, in the order of the
// names. module is the path of the module that is looked into: types from
// elsewhere cannot mention its writers, except as type arguments.
//
// Programs leak nothing by themselves, since nobody can import them, and
// neither does a package that can be imported only by those who may import the
// writer too. What they declare is looked into where another package exports
// it.
func Check(pkg *types.Package, module string, writer func(path string) bool) []Leak {
	if pkg.Name() == "main" {
		return nil
	}
	c := &checker{pkg: pkg, module: module, writer: writer, reach: reach(pkg.Path())}
	c.raw = !c.mayHoldRaw()
	scope := pkg.Scope()
	for _, name := range scope.Names() {
		if obj := scope.Lookup(name); obj.Exported() {
			c.object(obj)
		}
	}
	slices.SortStableFunc(c.leaks, func(a, b Leak) int { return strings.Compare(a.Name, b.Name) })
	return slices.Compact(c.leaks)
}

// reach returns the path below which all packages are that Go lets import the
// package at importPath: the parent of its last element "internal". It is
// empty if everybody may.
func reach(importPath string) string {
	elements := strings.Split(importPath, "/")
	for i, element := range slices.Backward(elements) {
		if element == "internal" {
			return strings.Join(elements[:i], "/")
		}
	}
	return ""
}

// within reports whether everybody in inner is in outer; both are of reach.
func within(inner, outer string) bool {
	return outer == "" || inner == outer || strings.HasPrefix(inner, outer+"/")
}

// A checker walks the types that one package exports.
type checker struct {
	pkg    *types.Package
	module string
	writer func(path string) bool
	reach  string // of pkg
	raw    bool   // whether raw handles are leaks, too
	leaks  []Leak
}

// object checks an exported object of the package's scope.
func (c *checker) object(obj types.Object) {
	w := &walk{checker: c, name: obj.Name(), pos: obj.Pos(), seen: map[types.Type]bool{}}
	if name, ok := obj.(*types.TypeName); ok {
		w.declared(name)
		return
	}
	w.typ(obj.Type())
}

// leak reports that a type of the package writer is mentioned, unless whoever
// imports c's package may import that one too.
func (c *checker) leak(name string, pos token.Pos, writer *types.Package) {
	if !within(c.reach, reach(writer.Path())) {
		c.leaks = append(c.leaks, Leak{Package: c.pkg.Path(), Name: name, Handle: writer.Path(), Pos: pos})
	}
}
