package leak

import (
	"go/token"
	"go/types"
	"slices"
)

// What writer packages are made of. Whoever has a value of one of the raw types
// can write, so that handing it out under an interface type, which need not
// name the writer package, is as good as handing out the writer.
const (
	sidecar   = "github.com/freehold-dev/freehold/sidecar"
	rawPrefix = "sidecar."
)

var rawTypes = []string{"Counter", "DependentCounter", "DependentMax", "DependentMin", "DependentValue", "Entry", "Event", "Map", "Max", "Min", "Once", "Part", "Set", "Tx", "Value", "Writer"}

// isRaw reports whether t is a raw type.
func isRaw(t *types.TypeName) bool {
	return t.Pkg() != nil && t.Pkg().Path() == sidecar && slices.Contains(rawTypes, t.Name())
}

// mayHoldRaw reports whether c's package may export what mentions raw types:
// the library, a writer package, and what can only be imported from within the
// home of an owner whose writer it can come by. An internal package that has
// no writer cannot hand anything out; who exports it elsewhere is found there.
func (c *checker) mayHoldRaw() bool {
	if within(c.pkg.Path(), sidecar) || c.writer(c.pkg.Path()) {
		return true
	}
	if c.reach == "" {
		return false
	}
	writers := c.writers()
	return len(writers) == 0 || slices.ContainsFunc(writers, func(writer string) bool { return within(c.reach, reach(writer)) })
}

// writers returns the paths of the writer packages that c's package imports,
// by itself or through others.
func (c *checker) writers() []string {
	var found []string
	seen := map[*types.Package]bool{}
	var visit func(p *types.Package)
	visit = func(p *types.Package) {
		if seen[p] {
			return
		}
		seen[p] = true
		if c.writer(p.Path()) {
			found = append(found, p.Path())
		}
		for _, imported := range p.Imports() {
			visit(imported)
		}
	}
	visit(c.pkg)
	return found
}

// leakRaw reports that a raw type is mentioned.
func (c *checker) leakRaw(name string, pos token.Pos, raw string) {
	if c.raw {
		c.leaks = append(c.leaks, Leak{Package: c.pkg.Path(), Name: name, Handle: rawPrefix + raw, Pos: pos})
	}
}

// rawStruct returns the raw type of which s, which has the field f, is the
// underlying type: s has another name then, and converts back.
func rawStruct(s *types.Struct, f *types.Var) (name string, ok bool) {
	if f.Pkg().Path() != sidecar {
		return "", false
	}
	for _, name := range rawTypes {
		obj := f.Pkg().Scope().Lookup(name)
		if obj == nil {
			continue
		}
		if raw, ok := obj.Type().Underlying().(*types.Struct); ok && slices.Equal(fieldNames(raw), fieldNames(s)) {
			return name, true
		}
	}
	return "", false
}

func fieldNames(s *types.Struct) []string {
	var names []string
	for f := range s.Fields() {
		names = append(names, f.Name())
	}
	return names
}
