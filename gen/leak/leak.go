package leak

import (
	"fmt"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strings"
)

// A Leak is an exported name that mentions a writer package.
type Leak struct {
	// Package and Name of what is exported: "Stamp", "Bag.Writer" for a
	// field or a method.
	Package, Name string
	// Writer is the path of the writer package that it mentions.
	Writer string
	// Pos is where the name is declared, in the file set of the package.
	Pos token.Pos
}

// String says what leaks and what to do.
func (l Leak) String() string {
	return fmt.Sprintf("%s.%s mentions %s, so whoever imports %s can come by its writer: export a function that does the writing instead",
		path.Base(l.Package), l.Name, l.Writer, l.Package)
}

// Check returns what pkg leaks of the packages for which writer, given an
// import path, is true, in the order of the names. module is the path of the
// module that is looked into: types from elsewhere cannot mention its writers,
// except as type arguments. Packages below an internal directory and programs
// leak nothing by themselves, since not everybody can import them; but what
// they declare is looked into where another package exports it.
func Check(pkg *types.Package, module string, writer func(path string) bool) []Leak {
	if pkg.Name() == "main" || internal(pkg.Path()) {
		return nil
	}
	c := &checker{pkg: pkg, module: module, writer: writer}
	scope := pkg.Scope()
	for _, name := range scope.Names() {
		if obj := scope.Lookup(name); obj.Exported() {
			c.object(obj)
		}
	}
	slices.SortStableFunc(c.leaks, func(a, b Leak) int { return strings.Compare(a.Name, b.Name) })
	return slices.Compact(c.leaks)
}

// internal reports whether path has an element "internal", so that Go lets
// only some packages import it.
func internal(path string) bool {
	return slices.Contains(strings.Split(path, "/"), "internal")
}

// A checker walks the types that one package exports.
type checker struct {
	pkg    *types.Package
	module string
	writer func(path string) bool
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

func (c *checker) leak(name string, pos token.Pos, writer *types.Package) {
	c.leaks = append(c.leaks, Leak{Package: c.pkg.Path(), Name: name, Writer: writer.Path(), Pos: pos})
}
