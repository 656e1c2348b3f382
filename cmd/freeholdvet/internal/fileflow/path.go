// Package fileflow knows which calls read and write files, and tells the path of
// a file from the values that make it: enough to say that two paths are one
// file, or that a path ends in a certain name.
package fileflow

import (
	"fmt"
	"go/constant"
	"go/token"
	"go/types"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/generated"
	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/program"
	"golang.org/x/tools/go/ssa"
)

// A Path is the text of a path as far as the code tells it. Two paths with
// equal texts are the same file.
type Path struct {
	// Text has a mark in place of each part that is not constant: equal parts
	// have equal marks.
	Text string
	in   []*ssa.Function // a part has a meaning only in one call of these
}

// mark encloses the number of a part that is not constant.
const mark = "\x00"

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

// within reports whether a part of the path has a meaning only in one call of fn.
func (p Path) within(fn *ssa.Function) bool { return slices.Contains(p.in, fn) }

// An Env holds the known values of parameters in one call, and of values,
// variables and fields at one moment. Other values are marks.
type Env map[any]Path

// With returns env with one more value.
func (env Env) With(key any, p Path) Env {
	more := Env{key: p}
	for k, v := range env {
		if k != key {
			more[k] = v
		}
	}
	return more
}

// A Tracer tells the paths of one package. It is not safe for concurrent use.
type Tracer struct {
	*program.Package
	marks map[string]int
	known map[step][]Event
	depth int
	met   map[any]bool // see Met
}

// NewTracer returns a Tracer for a package.
func NewTracer(p *program.Package) *Tracer {
	return &Tracer{Package: p, marks: map[string]int{}, known: map[step][]Event{}}
}

// Met calls path and returns the values, variables and fields that the paths
// depend on; true stands for a value that may be another one each time that it
// is computed.
func (t *Tracer) Met(path func(Env) []Path) map[any]bool {
	t.met = map[any]bool{}
	defer func() { t.met = nil }()
	path(nil)
	return t.met
}

func (t *Tracer) meet(v any, varies bool) {
	if t.met != nil {
		t.met[v] = varies || t.met[v]
	}
}

// longest bounds how far an expression is followed; a call counts for perCall.
const (
	longest = 50
	perCall = 16
)

// Path returns the text of the string v, or of the file, directory or structure that v is.
func (t *Tracer) Path(v ssa.Value, env Env) Path {
	if p, ok := env[v]; ok {
		return p
	}
	if t.depth >= longest {
		return t.unknown(v)
	}
	t.depth++
	defer func() { t.depth-- }()
	if origin := t.Origin(v); origin != v {
		return t.Path(origin, env)
	}
	_, again := t.met[v]
	t.meet(v, false)
	switch v := v.(type) {
	case *ssa.Const:
		if v.Value != nil && v.Value.Kind() == constant.String {
			return Path{Text: strings.ReplaceAll(constant.StringVal(v.Value), `\`, "/")}
		}
		return Path{Text: v.Name()}
	case *ssa.Alloc, *ssa.Global, *ssa.FreeVar:
		return t.variable(v, env)
	case *ssa.BinOp:
		x, y := t.Path(v.X, env), t.Path(v.Y, env)
		if v.Op == token.ADD && types.Identical(v.Type().Underlying(), types.Typ[types.String]) {
			return concat(x, y)
		}
		return t.part(v.Op.String(), x, y)
	case *ssa.UnOp:
		if v.Op == token.MUL {
			return t.Path(v.X, env)
		}
	case *ssa.FieldAddr, *ssa.Field:
		field, of := program.Field(v), *v.(ssa.Instruction).Operands(nil)[0]
		t.meet(field, false)
		return t.part(fmt.Sprintf("field %p %s", field, env[field].Text), t.Path(of, env))
	case *ssa.IndexAddr, *ssa.Index, *ssa.Lookup:
		operands := v.(ssa.Instruction).Operands(nil)
		if element := t.Element(*operands[0], *operands[1]); element != nil {
			return t.Path(element, env)
		}
		return t.part("index", t.Path(*operands[0], env), t.Path(*operands[1], env))
	case *ssa.Slice:
		if list, ok := t.List(v); ok {
			return t.part("list", t.paths(list, env)...)
		}
	case *ssa.Phi:
		for _, edge := range v.Edges {
			if t.met != nil && !again {
				t.Path(edge, env)
			}
		}
	case *ssa.Extract:
		return t.first(v, env)
	case *ssa.Call:
		return t.call(v, env)
	}
	return t.unknown(v)
}

func (t *Tracer) paths(values []ssa.Value, env Env) []Path {
	var paths []Path
	for _, v := range values {
		paths = append(paths, t.Path(v, env))
	}
	return paths
}

// under returns the path of a file under root, which may be nil.
func (t *Tracer) under(root, file ssa.Value, env Env) Path {
	p := t.Path(file, env)
	if root != nil {
		p = join(t.Path(root, env), p)
	}
	p.Text = strings.TrimPrefix(path.Clean(p.Text), "./")
	return p
}

// unknown returns a mark for v alone.
func (t *Tracer) unknown(v ssa.Value) Path {
	p := t.part(fmt.Sprintf("value %p", v))
	t.meet(v, true)
	if fn := v.Parent(); fn != nil {
		p.in = []*ssa.Function{fn}
	}
	return p
}

// part returns a mark: the same one for the same kind and paths.
func (t *Tracer) part(kind string, of ...Path) Path {
	var p Path
	for _, o := range of {
		kind += " (" + o.Text + ")"
		p.in = append(p.in, o.in...)
	}
	n, ok := t.marks[kind]
	if !ok {
		n = len(t.marks)
		t.marks[kind] = n
	}
	p.Text = fmt.Sprint(mark, n, mark)
	return p
}

// Anew returns a mark for the value that v gets when v is computed again.
func (t *Tracer) Anew(v any) Path { return t.part(fmt.Sprintf("anew %p", v)) }

func concat(a, b Path) Path { return Path{Text: a.Text + b.Text, in: slices.Concat(a.in, b.in)} }

func join(elements ...Path) Path { return between(elements, Path{Text: "/"}) }

// between returns the elements with a separator between them.
func between(elements []Path, separator Path) (p Path) {
	for i, e := range elements {
		if i > 0 {
			p = concat(p, separator)
		}
		p = concat(p, e)
	}
	return p
}

// variable returns the path that a variable holds.
func (t *Tracer) variable(v ssa.Value, env Env) Path {
	variable := t.Variable(v)
	t.meet(variable, false)
	if p, ok := env[variable]; ok {
		return p
	}
	if variable == nil {
		return t.unknown(v)
	}
	if value := t.Value(variable); value != nil {
		return t.Path(value, env)
	}
	return t.unknown(variable)
}

// first returns the path that is the first of several results.
func (t *Tracer) first(v *ssa.Extract, env Env) Path {
	call, ok := v.Tuple.(*ssa.Call)
	if !ok || v.Index > 0 {
		return t.unknown(v)
	}
	fn, args := t.Callee(&call.Call)
	switch program.Name(fn) {
	case "path/filepath.Abs", "path/filepath.EvalSymlinks", "os.OpenRoot":
		return t.Path(args[0], env)
	case "(*os.Root).OpenRoot":
		return join(t.paths(args, env)...)
	}
	return t.unknown(v)
}

// fresh lists functions that return another path each time.
var fresh = []string{"TempDir", "MkdirTemp", "CreateTemp", "TempFile"}

// call returns the path that a call returns.
func (t *Tracer) call(v *ssa.Call, env Env) Path {
	fn, args := t.Callee(&v.Call)
	if fn == nil || slices.Contains(fresh, fn.Name()) {
		return t.unknown(v)
	}
	switch name := program.Name(fn); name {
	case "path/filepath.Join", "path.Join":
		if elements, ok := t.List(args[0]); ok {
			return join(t.paths(elements, env)...)
		}
	case "strings.Join":
		if elements, ok := t.List(args[0]); ok {
			return between(t.paths(elements, env), t.Path(args[1], env))
		}
	case generated.SidecarName:
		return concat(t.Path(args[0], env), Path{Text: ".json"})
	case "path/filepath.Clean", "path.Clean", "path/filepath.FromSlash", "path/filepath.ToSlash", "os.DirFS", "(*os.Root).FS":
		return t.Path(args[0], env)
	case "fmt.Sprintf":
		if rest, ok := t.List(args[1]); ok {
			return t.sprintf(v, t.Path(args[0], env).Text, t.paths(rest, env))
		}
	}
	if p, ok := t.result(fn, args, env); ok {
		return p
	}
	t.meet(v, true)
	return t.part(fmt.Sprintf("call %p", fn), t.paths(args, env)...)
}

// bind returns env for a call of fn, a function of this package.
func (t *Tracer) bind(fn *ssa.Function, args []ssa.Value, env Env) Env {
	bound := Env{}
	maps.Copy(bound, env)
	for i, param := range fn.Params {
		if i < len(args) {
			bound[param] = t.Path(args[i], env)
		}
	}
	return bound
}

// result returns the path that a function of this package returns, if one
// place returns it and its parameters decide it.
func (t *Tracer) result(fn *ssa.Function, args []ssa.Value, env Env) (Path, bool) {
	var found *ssa.Return
	for _, block := range fn.Blocks {
		ret, ok := block.Instrs[len(block.Instrs)-1].(*ssa.Return)
		if ok && block != fn.Recover {
			if found != nil {
				return Path{}, false
			}
			found = ret
		}
	}
	if found == nil || len(found.Results) != 1 {
		return Path{}, false
	}
	t.depth += perCall
	defer func() { t.depth -= perCall }()
	p := t.Path(found.Results[0], t.bind(fn, args, env))
	return p, !p.within(fn)
}

// sprintf puts the arguments into the format as far as they are strings.
func (t *Tracer) sprintf(v *ssa.Call, format string, args []Path) Path {
	var p Path
	for {
		text, after, found := strings.Cut(format, "%")
		p.Text += text
		if !found {
			return p
		}
		verb := after[:min(1, len(after))]
		switch format = after[len(verb):]; {
		case verb == "%":
			p.Text += "%"
		case (verb == "s" || verb == "v" || verb == "d") && len(args) > 0:
			p = concat(p, args[0])
			args = args[1:]
		default: // widths and other verbs: the code does not tell the rest
			return concat(p, t.unknown(v))
		}
	}
}
