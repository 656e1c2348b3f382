package fileio

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"maps"
	"slices"

	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"
)

// A Tracer tells paths of one package. It is not safe for concurrent use.
type Tracer struct {
	info    *types.Info
	root    inspector.Cursor // of the files
	decls   map[*types.Func]*ast.FuncDecl
	once    map[*types.Var]ast.Expr // variables that are set once, and to what
	often   map[*types.Var]bool     // those that are set more often
	each    map[*types.Var]ast.Expr // variables that are set to each element of something
	keys    map[*types.Var]ast.Expr // variables that are set to each key or index of something
	pointed map[*types.Var]bool     // variables whose address is taken
	filled  map[*types.Var]bool     // variables of which an element is set
	leaking map[*types.Var]bool     // see leaks, as far as it is known
	jumps   bool                    // whether there is a goto or a fallthrough
	parts   map[string]int
	within  map[*types.Var]bool // variables whose value is being traced
	depth   int                 // of functions whose result is
}

// NewTracer looks through the files of a package.
func NewTracer(info *types.Info, files []*ast.File) *Tracer {
	t := &Tracer{
		info:    info,
		root:    inspector.New(files).Root(),
		decls:   map[*types.Func]*ast.FuncDecl{},
		once:    map[*types.Var]ast.Expr{},
		often:   map[*types.Var]bool{},
		each:    map[*types.Var]ast.Expr{},
		keys:    map[*types.Var]ast.Expr{},
		pointed: map[*types.Var]bool{},
		filled:  map[*types.Var]bool{},
		leaking: map[*types.Var]bool{},
		parts:   map[string]int{},
		within:  map[*types.Var]bool{},
	}
	set := map[*types.Var]int{}
	for _, file := range files {
		for n := range ast.Preorder(file) {
			t.look(n, set)
		}
	}
	for v, n := range set {
		if n > 1 {
			t.often[v] = true
			delete(t.once, v)
		}
	}
	return t
}

// look notes what n declares or sets, and counts how often a variable is set.
func (t *Tracer) look(n ast.Node, set map[*types.Var]int) {
	switch n := n.(type) {
	case *ast.FuncDecl:
		if fn, ok := t.info.Defs[n.Name].(*types.Func); ok && n.Body != nil {
			t.decls[fn] = n
		}
	case *ast.Field: // a parameter is set by every call
		for _, name := range n.Names {
			if v, ok := t.info.Defs[name].(*types.Var); ok {
				set[v]++
			}
		}
	case *ast.UnaryExpr:
		if v, ok := t.Object(n.X).(*types.Var); ok && n.Op == token.AND {
			set[v]++ // by whoever has the address
			t.pointed[v] = true
		}
	case *ast.RangeStmt:
		if v, ok := t.Object(n.Value).(*types.Var); ok {
			t.each[v] = n.X
		}
		if v, ok := t.Object(n.Key).(*types.Var); ok {
			t.keys[v] = n.X
		}
	case *ast.BranchStmt:
		t.jumps = t.jumps || n.Tok == token.GOTO || n.Tok == token.FALLTHROUGH
	case *ast.ValueSpec:
		if len(n.Values) == 0 { // what it is set to comes later
			return
		}
	}
	lhs, rhs := Assigned(n)
	for i, x := range lhs {
		if index, ok := x.(*ast.IndexExpr); ok {
			if v, ok := t.Object(index.X).(*types.Var); ok {
				t.filled[v] = true
			}
		}
		v, ok := t.Object(x).(*types.Var)
		if !ok {
			continue
		}
		set[v]++
		if len(rhs) == len(lhs) {
			t.once[v] = rhs[i]
		} else if i == 0 && len(rhs) == 1 {
			t.once[v] = t.same(rhs[0])
		}
	}
}

// same returns the path that a call only writes in another way, or nil.
func (t *Tracer) same(x ast.Expr) ast.Expr {
	call, ok := x.(*ast.CallExpr)
	if !ok {
		return nil
	}
	fn, ok := typeutil.Callee(t.info, call).(*types.Func)
	if !ok {
		return nil
	}
	switch fn.FullName() {
	case "path/filepath.Abs", "path/filepath.EvalSymlinks", "os.OpenRoot":
		return call.Args[0]
	case "(*os.Root).OpenRoot":
		return call
	}
	return nil
}

// Value returns x or, if it is a variable that is set once, what it is set to.
func (t *Tracer) Value(x ast.Expr) ast.Expr {
	if v, ok := t.Object(x).(*types.Var); ok && !v.IsField() && t.once[v] != nil {
		x = t.once[v]
	}
	return ast.Unparen(x)
}

// Selected returns the field that x names, also where a variable that is set once
// holds its value, or nil.
func (t *Tracer) Selected(x ast.Expr) types.Object {
	if sel, ok := t.Value(x).(*ast.SelectorExpr); ok {
		return t.info.ObjectOf(sel.Sel)
	}
	return nil
}

// list returns the elements of a slice or an array that x spells out, also where
// a variable that is set once holds it, and whether it does.
func (t *Tracer) list(x ast.Expr) ([]ast.Expr, bool) {
	lit, ok := t.Value(x).(*ast.CompositeLit)
	if !ok {
		return nil, false
	}
	switch t.info.TypeOf(lit).Underlying().(type) {
	case *types.Slice, *types.Array:
	default:
		return nil, false
	}
	keyed := slices.ContainsFunc(lit.Elts, func(e ast.Expr) bool { _, ok := e.(*ast.KeyValueExpr); return ok })
	return lit.Elts, !keyed
}

// entries returns the keys and the values of a map that x spells out, also where
// a variable that is set once holds it.
func (t *Tracer) entries(x ast.Expr) (keys, values []ast.Expr) {
	lit, ok := t.Value(x).(*ast.CompositeLit)
	if !ok {
		return nil, nil
	}
	if _, ok := t.info.TypeOf(lit).Underlying().(*types.Map); !ok {
		return nil, nil
	}
	for _, e := range lit.Elts {
		if entry, ok := e.(*ast.KeyValueExpr); ok {
			keys, values = append(keys, entry.Key), append(values, entry.Value)
		}
	}
	return keys, values
}

// element returns the element that x names with a constant of what the code
// spells out and nobody changes, or nil.
func (t *Tracer) element(x *ast.IndexExpr) ast.Expr {
	index := t.info.Types[x.Index].Value
	if v, ok := t.Object(x.X).(*types.Var); index == nil || ok && t.filled[v] {
		return nil
	}
	if list, ok := t.list(x.X); ok {
		if i, exact := constant.Int64Val(constant.ToInt(index)); exact && 0 <= i && i < int64(len(list)) {
			return list[i]
		}
	}
	keys, values := t.entries(x.X)
	for i, key := range keys {
		if k := t.info.Types[key].Value; k != nil && k.Kind() == index.Kind() && constant.Compare(k, token.EQL, index) {
			return values[i]
		}
	}
	return nil
}

// Turns returns env for each turn of the loops over what the code spells out that
// give p's variables their values; env alone if there is none.
func (t *Tracer) Turns(p Path, env Env) []Env {
	for _, obj := range p.Vars {
		v, ok := obj.(*types.Var)
		if !ok {
			continue
		}
		var elements []ast.Expr
		if t.each[v] != nil {
			elements, ok = t.list(t.each[v])
			if _, values := t.entries(t.each[v]); !ok {
				elements = values
			}
		} else if t.keys[v] != nil {
			elements, _ = t.entries(t.keys[v])
		}
		var all []Env
		for _, element := range elements {
			turn := Env{v: t.path(element, env)}
			maps.Copy(turn, env)
			all = append(all, turn)
		}
		if all != nil {
			return all
		}
	}
	return []Env{env}
}

// Object returns the variable or field that x names, or nil.
func (t *Tracer) Object(x ast.Expr) types.Object {
	if x == nil {
		return nil
	}
	switch x := ast.Unparen(x).(type) {
	case *ast.Ident:
		return t.info.ObjectOf(x)
	case *ast.SelectorExpr:
		return t.info.ObjectOf(x.Sel)
	}
	return nil
}

// Assigned returns what n itself, and nothing in it, assigns to, and the
// values: none, or one for each, or one for all.
func Assigned(n ast.Node) (lhs, rhs []ast.Expr) {
	switch n := n.(type) {
	case *ast.AssignStmt:
		if n.Tok != token.ASSIGN && n.Tok != token.DEFINE {
			return n.Lhs, nil
		}
		return n.Lhs, n.Rhs
	case *ast.ValueSpec:
		for _, name := range n.Names {
			lhs = append(lhs, name)
		}
		return lhs, n.Values
	case *ast.RangeStmt:
		return []ast.Expr{n.Key, n.Value}, nil
	case *ast.IncDecStmt:
		return []ast.Expr{n.X}, nil
	}
	return nil, nil
}

// Decl returns the declaration of a function of this package, or nil.
func (t *Tracer) Decl(fn *types.Func) *ast.FuncDecl { return t.decls[fn.Origin()] }
