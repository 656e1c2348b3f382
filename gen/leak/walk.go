package leak

import (
	"go/token"
	"go/types"
	"strings"
)

// A walk looks through everything that can be reached, from outside of its
// package, through one exported name.
type walk struct {
	*checker
	name string    // what the reader of a message would call it
	pos  token.Pos // where it is declared
	seen map[types.Type]bool
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

// declared looks into the declaration of an exported type.
func (w *walk) declared(name *types.TypeName) {
	if alias, ok := name.Type().(*types.Alias); ok {
		w.parameters(alias.TypeParams())
		w.typ(alias.Rhs())
		return
	}
	if named, ok := name.Type().(*types.Named); ok {
		w.named(named)
	}
}

// typ looks into a type that is mentioned.
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
	case *types.Pointer:
		w.typ(t.Elem())
	case *types.Slice:
		w.typ(t.Elem())
	case *types.Array:
		w.typ(t.Elem())
	case *types.Chan:
		w.typ(t.Elem())
	case *types.Map:
		w.typ(t.Key())
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

// mention looks at a named type that is mentioned. One that others declare and
// export from an ordinary package is checked there, not here.
func (w *walk) mention(t *types.Named) {
	w.arguments(t.TypeArgs())
	obj := t.Obj()
	switch {
	case obj.Pkg() == nil: // error, comparable, any
	case w.writer(obj.Pkg().Path()):
		w.leak(w.name, w.pos, obj.Pkg())
	case isRaw(obj):
		w.leakRaw(w.name, w.pos, obj.Name())
	case w.elsewhere(obj.Pkg().Path()):
	case obj.Exported() && reach(obj.Pkg().Path()) == "" && obj.Parent() == obj.Pkg().Scope():
	default:
		w.named(t)
	}
}

// elsewhere reports whether path is outside of the module.
func (w *walk) elsewhere(path string) bool {
	return path != w.module && !strings.HasPrefix(path, w.module+"/")
}

// named looks into a named type: what it is made of and its methods. A generic
// type is looked into once: its arguments are looked at where they stand.
func (w *walk) named(t *types.Named) {
	t = t.Origin()
	if !w.first(t) {
		return
	}
	w.parameters(t.TypeParams())
	w.typ(t.Underlying())
	w.methods(types.NewPointer(t))
}

// first reports whether the walk comes by t for the first time: types may be
// recursive.
func (w *walk) first(t types.Type) bool {
	if w.seen[t] {
		return false
	}
	w.seen[t] = true
	return true
}

// methods looks at the exported methods of t, promoted ones included. Those of
// a writer are promoted by embedding it, which is reported by itself.
func (w *walk) methods(t types.Type) {
	set := types.NewMethodSet(t)
	for selection := range set.Methods() {
		if m := selection.Obj(); m.Exported() && !w.elsewhere(m.Pkg().Path()) && !w.writer(m.Pkg().Path()) && m.Pkg().Path() != sidecar {
			w.at(m).typ(m.Type())
		}
	}
}

// fields looks at the exported fields of a struct, and into what it embeds:
// the fields of that are promoted, whether or not its own name is exported.
// A struct whose fields belong to a writer package, or are a raw type's, is
// that package's, under another name.
func (w *walk) fields(s *types.Struct) {
	for f := range s.Fields() {
		raw, isRaw := rawStruct(s, f)
		switch {
		case isRaw:
			w.leakRaw(w.name, w.pos, raw)
		case w.writer(f.Pkg().Path()):
			w.leak(w.name, w.pos, f.Pkg())
		case f.Exported():
			w.at(f).typ(f.Type())
		case f.Embedded():
			w.embedded(f.Type())
		}
	}
	w.methods(types.NewPointer(s))
}

// embedded looks at what an embedded field of unexported name promotes.
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
