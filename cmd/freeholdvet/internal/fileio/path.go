package fileio

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strings"

	"golang.org/x/tools/go/types/typeutil"
)

// A Path is what can be told of a path. Two expressions with equal texts name
// one file as long as none of Vars is assigned to in between.
type Path struct {
	// Text is the path, with a mark in place of each part that is not
	// constant: equal parts have equal marks.
	Text string
	// Vars are the variables and fields that Text depends on.
	Vars []types.Object
	// Local says that a part means something only in one call of the
	// function that the expression is in.
	Local bool

	called bool // a part may differ each time that it is computed
}

// Elements returns the elements of the path that are wholly constant, and the
// last one, which is empty if it is not.
func (p Path) Elements() (constant []string, last string) {
	for element := range strings.SplitSeq(p.Text, "/") {
		last = ""
		if !strings.Contains(element, mark) {
			constant = append(constant, element)
			last = element
		}
	}
	return constant, last
}

// mark encloses the number of a part that is not constant.
const mark = "\x00"

// An Env holds what is known of the parameters and the receiver of a function
// in one call; nil means any call.
type Env map[types.Object]Path

// Of returns what can be told of the path x under root, which may be nil.
func (t *Tracer) Of(root, x ast.Expr, env Env) Path {
	p := t.path(x, env)
	if root != nil {
		p = t.join(t.path(root, env), p)
	}
	p.Text = strings.TrimPrefix(path.Clean(p.Text), "./")
	return p
}

// path returns what can be told of the value of x, a string or what a path is
// computed from.
func (t *Tracer) path(x ast.Expr, env Env) Path {
	x = ast.Unparen(x)
	if v := t.info.Types[x].Value; v != nil && v.Kind() == constant.String {
		return Path{Text: strings.ReplaceAll(constant.StringVal(v), `\`, "/")}
	}
	switch x := x.(type) {
	case *ast.Ident:
		if v, ok := t.info.Uses[x].(*types.Var); ok && t.often[v] {
			if p, ok := t.reaching(x, v, env); ok {
				return p
			}
			return t.whatever(v)
		}
		return t.variable(t.info.ObjectOf(x), env)
	case *ast.SelectorExpr:
		return t.selected(x, env)
	case *ast.StarExpr:
		return t.part("*", t.path(x.X, env))
	case *ast.IndexExpr:
		if element := t.element(x); element != nil {
			return t.path(element, env)
		}
		return t.part("index", t.path(x.X, env), t.path(x.Index, env))
	case *ast.BinaryExpr:
		if x.Op == token.ADD {
			return concat(t.path(x.X, env), t.path(x.Y, env))
		}
	case *ast.BasicLit: // an index
		return Path{Text: x.Value}
	case *ast.CallExpr:
		return t.call(x, env)
	}
	return t.unknown(x)
}

// unknown is a value of its own.
func (t *Tracer) unknown(x ast.Expr) Path {
	p := t.part(fmt.Sprint("at ", x.Pos()))
	p.Local, p.called = true, true
	return p
}

// part returns a mark: the same for the same what and of.
func (t *Tracer) part(what string, of ...Path) Path {
	var p Path
	for _, o := range of {
		what += " (" + o.Text + ")"
		p = concat(p, o)
	}
	n, ok := t.parts[what]
	if !ok {
		n = len(t.parts)
		t.parts[what] = n
	}
	p.Text = fmt.Sprint(mark, n, mark)
	return p
}

func concat(a, b Path) Path {
	return Path{a.Text + b.Text, slices.Concat(a.Vars, b.Vars), a.Local || b.Local, a.called || b.called}
}

func (t *Tracer) join(elements ...Path) Path { return between(elements, Path{Text: "/"}) }

// between returns the elements with a separator between them.
func between(elements []Path, separator Path) Path {
	var p Path
	for i, e := range elements {
		if i > 0 {
			p = concat(p, separator)
		}
		p = concat(p, e)
	}
	return p
}

func (t *Tracer) paths(all []ast.Expr, env Env) []Path {
	var paths []Path
	for _, x := range all {
		paths = append(paths, t.path(x, env))
	}
	return paths
}

// variable returns the path that obj holds: what it was set to, if that
// happens once, else whatever it holds.
func (t *Tracer) variable(obj types.Object, env Env) Path {
	if p, ok := env[obj]; ok {
		return p
	}
	v, ok := obj.(*types.Var)
	if !ok {
		return t.part(fmt.Sprintf("object %p", obj))
	}
	if init := t.once[v]; init != nil && !t.within[v] {
		t.within[v] = true
		p := t.path(init, env)
		t.within[v] = false
		if p.called {
			p.Vars = append(slices.Clip(p.Vars), v)
		}
		return p
	}
	return t.whatever(v)
}

// whatever returns the path that v holds, of which no more is told.
func (t *Tracer) whatever(v *types.Var) Path {
	p := t.part(fmt.Sprintf("variable %p", v))
	p.Vars = []types.Object{v}
	p.Local = v.Parent() != nil && v.Parent() != v.Pkg().Scope()
	return p
}

func (t *Tracer) selected(x *ast.SelectorExpr, env Env) Path {
	obj := t.info.ObjectOf(x.Sel)
	if s := t.info.Selections[x]; s == nil || s.Kind() != types.FieldVal {
		return t.variable(obj, env) // of another package
	}
	p := t.part(fmt.Sprintf("field %p", obj), t.path(x.X, env))
	return concat(p, Path{Vars: []types.Object{obj}})
}

// fresh names functions that return another path each time.
var fresh = []string{"TempDir", "MkdirTemp", "CreateTemp", "TempFile"}

// call returns the path that a call returns.
func (t *Tracer) call(x *ast.CallExpr, env Env) Path {
	if tv := t.info.Types[x.Fun]; tv.IsType() && len(x.Args) == 1 {
		return t.path(x.Args[0], env)
	}
	fn, ok := typeutil.Callee(t.info, x).(*types.Func)
	if !ok || slices.Contains(fresh, fn.Name()) {
		return t.unknown(x)
	}
	args := t.paths(x.Args, env)
	switch fn.FullName() {
	case "path/filepath.Join", "path.Join":
		if !x.Ellipsis.IsValid() {
			return t.join(args...)
		}
		if elements, ok := t.list(x.Args[0]); ok && len(x.Args) == 1 {
			return t.join(t.paths(elements, env)...)
		}
	case "strings.Join":
		if elements, ok := t.list(x.Args[0]); ok {
			return between(t.paths(elements, env), args[1])
		}
	case "(*os.Root).OpenRoot":
		if recv, rest := t.receiver(fn, ast.Unparen(x.Fun), x); recv != nil && len(rest) == 1 {
			return t.join(t.path(recv, env), t.path(rest[0], env))
		}
	case "github.com/freehold-dev/freehold/sidecar/statedir.Sidecar":
		return concat(args[0], Path{Text: ".json"})
	case "path/filepath.Clean", "path.Clean", "path/filepath.FromSlash", "path/filepath.ToSlash", "os.DirFS":
		return args[0]
	case "(*os.Root).FS":
		if recv, _ := t.receiver(fn, ast.Unparen(x.Fun), x); recv != nil {
			return t.path(recv, env)
		}
	case "fmt.Sprintf":
		return t.sprintf(x, args)
	}
	if result, ok := t.result(x, fn, env); ok {
		return result
	}
	if recv, _ := t.receiver(fn, ast.Unparen(x.Fun), x); recv != nil {
		args = append(args, t.path(recv, env))
	}
	p := t.part(fmt.Sprintf("call %p", fn), args...)
	p.called = true
	return p
}

// result returns what a function of this package returns, if there is one place
// where it does.
func (t *Tracer) result(x *ast.CallExpr, fn *types.Func, env Env) (Path, bool) {
	decl := t.Decl(fn)
	if decl == nil || len(decl.Body.List) == 0 || t.depth > 3 {
		return Path{}, false
	}
	ret, ok := decl.Body.List[len(decl.Body.List)-1].(*ast.ReturnStmt)
	if !ok || len(ret.Results) != 1 || returns(decl.Body) > 1 {
		return Path{}, false
	}
	t.depth++
	defer func() { t.depth-- }()
	p := t.path(ret.Results[0], t.Bind(fn, x, env))
	if len(decl.Body.List) > 1 {
		p.called = true // it may do something else, and return something else then
	}
	return p, len(decl.Body.List) == 1 || !p.Local
}

// returns counts the return statements in a function, those of function literals
// included.
func returns(body *ast.BlockStmt) (n int) {
	for node := range ast.Preorder(body) {
		if _, ok := node.(*ast.ReturnStmt); ok {
			n++
		}
	}
	return n
}

// sprintf puts the arguments into the format as far as they are strings.
func (t *Tracer) sprintf(x *ast.CallExpr, args []Path) Path {
	rest, p, next := args[0].Text, args[0], 1
	p.Text = ""
	for {
		text, after, found := strings.Cut(rest, "%")
		p.Text += text
		if !found {
			return p
		}
		verb := after[:min(1, len(after))]
		switch rest = after[len(verb):]; {
		case verb == "%":
			p.Text += "%"
		case (verb == "s" || verb == "v" || verb == "d") && next < len(args):
			p = concat(p, args[next])
			next++
		default: // widths and other verbs: the rest is not to be told
			return concat(p, t.unknown(x))
		}
	}
}
