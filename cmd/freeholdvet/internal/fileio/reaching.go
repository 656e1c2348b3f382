package fileio

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/inspector"
)

// reaching returns what a variable that is set more than once holds where id reads
// it, and whether that is told: one assignment decides it, whatever way control has
// taken, or none does and it is what the parameter was.
func (t *Tracer) reaching(id *ast.Ident, v *types.Var, env Env) (Path, bool) {
	if t.jumps || v.IsField() || v.Parent() == nil || v.Parent() == v.Pkg().Scope() || t.leaks(v) {
		return Path{}, false
	}
	cur, ok := t.root.FindNode(id)
	if !ok {
		return Path{}, false
	}
	p, ok := t.before(cur, v, env)
	p.Vars = append(slices.Clip(p.Vars), v) // what was computed may come out differently the next time
	return p, ok
}

// leaks reports whether v may be set by somebody else than the statements of its
// function: through its address, or by a function literal around which it is.
func (t *Tracer) leaks(v *types.Var) bool {
	if leaks, known := t.leaking[v]; known {
		return leaks
	}
	leaks := t.pointed[v]
	for lit := range t.root.Preorder((*ast.FuncLit)(nil)) {
		body := lit.Node()
		leaks = leaks || (v.Pos() < body.Pos() || v.Pos() > body.End()) && t.sets(body, v)
	}
	t.leaking[v] = leaks
	return leaks
}

// sets reports whether n, or something in it, sets v.
func (t *Tracer) sets(n ast.Node, v *types.Var) bool {
	for m := range ast.Preorder(n) {
		if lhs, _ := Assigned(m); slices.ContainsFunc(lhs, func(x ast.Expr) bool { return t.Object(x) == v }) {
			return true
		}
	}
	return false
}

// before returns what v holds when control comes to the node at cur.
func (t *Tracer) before(cur inspector.Cursor, v *types.Var, env Env) (Path, bool) {
	for {
		if earlier, inList := cur.PrevSibling(); inList && listed(cur) {
			cur = earlier
			if t.sets(cur.Node(), v) {
				return t.after(cur, v, env)
			}
			continue
		}
		up := cur.Parent()
		switch n := up.Node().(type) {
		case nil, *ast.FuncLit, *ast.FuncDecl:
			return t.given(up.Node(), v, env)
		case *ast.RangeStmt:
			if cur.Node() == n.Body && (t.Object(n.Value) == v || t.Object(n.Key) == v) {
				return t.turn(v, env), true
			}
			if cur.Node() == n.Body && t.sets(n.Body, v) {
				return Path{}, false
			}
		case *ast.ForStmt:
			if cur.Node() != n.Init && t.sets(n, v) {
				return Path{}, false
			}
		case *ast.IfStmt:
			if cur.Node() != n.Init && n.Init != nil && t.sets(n.Init, v) {
				return Path{}, false
			}
		case *ast.SwitchStmt:
			if cur.Node() != n.Init && n.Init != nil && t.sets(n.Init, v) {
				return Path{}, false
			}
		}
		cur = up
	}
}

// listed reports whether the node at cur is a statement with others before it.
func listed(cur inspector.Cursor) bool {
	switch cur.Node().(type) {
	case *ast.CaseClause, *ast.CommClause: // the ones before are not executed then
		return false
	case ast.Stmt:
	default:
		return false
	}
	switch cur.Parent().Node().(type) {
	case *ast.BlockStmt, *ast.CaseClause, *ast.CommClause:
		return true
	}
	return false
}

// after returns what v holds after the statement at cur, which sets it.
func (t *Tracer) after(cur inspector.Cursor, v *types.Var, env Env) (Path, bool) {
	switch n := cur.Node().(type) {
	case *ast.AssignStmt:
		i := slices.IndexFunc(n.Lhs, func(x ast.Expr) bool { return t.Object(x) == v })
		switch {
		case i < 0 || len(n.Lhs) != len(n.Rhs):
			return Path{}, false
		case n.Tok == token.ASSIGN, n.Tok == token.DEFINE:
			return t.path(n.Rhs[i], env), true
		case n.Tok == token.ADD_ASSIGN:
			p, ok := t.before(cur, v, env)
			return concat(p, t.path(n.Rhs[i], env)), ok
		}
	case *ast.DeclStmt:
		for spec := range ast.Preorder(n) {
			vs, ok := spec.(*ast.ValueSpec)
			if !ok {
				continue
			}
			i := slices.IndexFunc(vs.Names, func(name *ast.Ident) bool { return t.Object(name) == v })
			if i >= 0 && len(vs.Values) == len(vs.Names) {
				return t.path(vs.Values[i], env), true
			}
			if i >= 0 && len(vs.Values) == 0 {
				return Path{}, true
			}
		}
	}
	return Path{}, false
}

// given returns what the parameter v of a function holds when that is called.
func (t *Tracer) given(function ast.Node, v *types.Var, env Env) (Path, bool) {
	var params *ast.FieldList
	switch fn := function.(type) {
	case *ast.FuncDecl:
		params = fn.Type.Params
	case *ast.FuncLit:
		params = fn.Type.Params
	}
	if params == nil || v.Pos() < params.Pos() || v.Pos() > params.End() {
		return Path{}, false
	}
	return t.turn(v, env), true
}

// turn returns what v holds by env, or else whatever it holds.
func (t *Tracer) turn(v *types.Var, env Env) Path {
	if p, ok := env[v]; ok {
		return p
	}
	return t.whatever(v)
}
