package leak

import (
	"fmt"
	"go/token"
	"go/types"
	"path"
	"slices"
)

// A walk follows all types that other packages can reach through one exported
// name.
type walk struct {
	*checker
	name string    // in a message
	pos  token.Pos // of the declaration
	seen map[types.Type]bool
}

// leakWriter reports a mention of a type of the package writer, unless all
// importers of w's package may import that one too.
func (w *walk) leakWriter(writer *types.Package) {
	if !within(w.reach, reach(writer.Path())) {
		w.report(writer.Path(), "its writer")
	}
}

// leakHandle reports a mention of a handle.
func (w *walk) leakHandle(handle string) {
	if w.handlesLeak {
		w.report("sidecar."+handle, "a handle to write with")
	}
}

func (w *walk) report(mentioned, gained string) {
	takers, remedy := "importers of", "export a function that does the writing instead"
	if w.pkg.Name() == "main" {
		takers, remedy = "a process that opens as a plugin", "let the name begin with a small letter"
	}
	w.leaks = append(w.leaks, Leak{w.pos, fmt.Sprintf("%s.%s mentions %s, so %s %s can come by %s: %s",
		path.Base(w.pkg.Path()), w.name, mentioned, takers, w.pkg.Path(), gained, remedy)})
}

// at returns a walk that goes on at a field or method of w's type.
func (w *walk) at(obj types.Object) *walk {
	next := *w
	next.name = w.name + "." + obj.Name()
	if obj.Pkg() == w.pkg {
		next.pos = obj.Pos()
	}
	return &next
}

// declaration follows the declaration of an exported type.
func (w *walk) declaration(name *types.TypeName) {
	if alias, ok := name.Type().(*types.Alias); ok {
		w.parameters(alias.TypeParams())
		w.typ(alias.Rhs())
		return
	}
	if named, ok := name.Type().(*types.Named); ok {
		w.named(named)
	}
}

// typ follows a mentioned type.
func (w *walk) typ(t types.Type) {
	switch t := t.(type) {
	case *types.Alias:
		w.arguments(t.TypeArgs())
		w.typ(types.Unalias(t))
	case *types.Named:
		w.mention(t)
	case *types.TypeParam:
		if w.first(t) {
			w.typ(t.Constraint())
		}
	case *types.Map:
		w.typ(t.Key())
		w.typ(t.Elem())
	case interface{ Elem() types.Type }: // a pointer, slice, array or channel
		w.typ(t.Elem())
	case *types.Signature:
		w.parameters(t.TypeParams())
		w.tuple(t.Params())
		w.tuple(t.Results())
	case *types.Struct:
		w.fields(t)
	case *types.Interface:
		w.iface(t)
	case *types.Union:
		for term := range t.Terms() {
			w.typ(term.Type())
		}
	}
}

// mention follows a named type. An exported type of another package that is not
// internal is checked there, not here.
func (w *walk) mention(t *types.Named) {
	w.arguments(t.TypeArgs())
	obj := t.Obj()
	switch {
	case obj.Pkg() == nil: // error, comparable, any
	case w.isWriter(obj.Pkg().Path()):
		w.leakWriter(obj.Pkg())
	case IsHandle(obj):
		w.leakHandle(obj.Name())
	case !within(obj.Pkg().Path(), w.module):
	case obj.Exported() && reach(obj.Pkg().Path()) == "" && obj.Parent() == obj.Pkg().Scope():
	default:
		w.named(t)
	}
}

// named follows the underlying type and the methods of a named type. A generic
// type is followed once; its arguments are followed where they stand.
func (w *walk) named(t *types.Named) {
	t = t.Origin()
	if !w.first(t) {
		return
	}
	w.parameters(t.TypeParams())
	w.typ(t.Underlying())
	w.methods(types.NewPointer(t))
}

// first reports whether the walk meets t for the first time: types may be
// recursive.
func (w *walk) first(t types.Type) bool {
	if w.seen[t] {
		return false
	}
	w.seen[t] = true
	return true
}

// methods follows the exported methods of t, promoted ones included. It leaves
// out a writer's, which are promoted by embedding: that is a leak by itself.
func (w *walk) methods(t types.Type) {
	set := types.NewMethodSet(t)
	for selection := range set.Methods() {
		m := selection.Obj()
		if from := m.Pkg().Path(); m.Exported() && within(from, w.module) && !w.isWriter(from) && from != sidecar {
			w.at(m).typ(m.Type())
		}
	}
}

// fields follows the exported fields of a struct, and the embedded ones, for
// their promoted fields. A struct with the fields of a writer or of a handle is
// that type under another name, and converts back.
func (w *walk) fields(s *types.Struct) {
	for f := range s.Fields() {
		handle, isHandle := handleOf(s, f)
		switch {
		case isHandle:
			w.leakHandle(handle)
		case w.isWriter(f.Pkg().Path()):
			w.leakWriter(f.Pkg())
		case f.Exported():
			w.at(f).typ(f.Type())
		case f.Embedded():
			w.embedded(f.Type())
		}
	}
	w.methods(types.NewPointer(s))
}

// handleOf returns the handle with the underlying type s, which has the field f.
func handleOf(s *types.Struct, f *types.Var) (name string, ok bool) {
	if f.Pkg().Path() != sidecar {
		return "", false
	}
	for _, name := range handles {
		obj := f.Pkg().Scope().Lookup(name)
		if obj == nil {
			continue
		}
		handle, ok := obj.Type().Underlying().(*types.Struct)
		if ok && slices.EqualFunc(slices.Collect(handle.Fields()), slices.Collect(s.Fields()), sameName) {
			return name, true
		}
	}
	return "", false
}

func sameName(a, b *types.Var) bool { return a.Name() == b.Name() }

// embedded follows the type of an embedded field of unexported name, which
// promotes fields and methods.
func (w *walk) embedded(t types.Type) {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	if named, ok := types.Unalias(t).(*types.Named); ok && named.Obj().Exported() {
		w.mention(named) // embedded through an alias of unexported name
	} else if s, ok := t.Underlying().(*types.Struct); ok {
		w.fields(s)
	}
}

func (w *walk) iface(t *types.Interface) {
	for embedded := range t.EmbeddedTypes() {
		w.typ(embedded)
	}
	for m := range t.ExplicitMethods() {
		if m.Exported() {
			w.at(m).typ(m.Type())
		}
	}
}

func (w *walk) tuple(t *types.Tuple) {
	for v := range t.Variables() {
		w.typ(v.Type())
	}
}

func (w *walk) parameters(list *types.TypeParamList) {
	for p := range list.TypeParams() {
		w.typ(p.Constraint())
	}
}

func (w *walk) arguments(list *types.TypeList) {
	for t := range list.Types() {
		w.typ(t)
	}
}
