package sidecarpath

import (
	_ "embed"
	"go/types"
	"path/filepath"
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/check"
	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/fileio"
	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/generated"
	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/program"
	"github.com/freehold-dev/freehold/gen/tree"
	"golang.org/x/tools/go/ssa"
)

//go:embed doc.go
var doc string

// Analyzer is the check.
var Analyzer = check.New("sidecarpath", doc, run, program.Analyzer)

// private is the library's own directory in a state.
const private = ".freehold"

func run(pass *check.Pass) {
	if !fileio.Imported(pass.Pkg) || generated.Within(pass.Pkg.Path(), generated.Sidecar) {
		return
	}
	p := pass.ResultOf[program.Analyzer].(*program.Package)
	c := &checker{Pass: pass, Tracer: fileio.NewTracer(p)}
	for call := range program.Calls(p.Functions...) {
		if pass.ByHand(call.Pos()) && p.Syntax(call) != nil {
			c.call(call)
		}
	}
}

type checker struct {
	*check.Pass
	*fileio.Tracer
	owners map[string]owner // by the name of the sidecar; nil until needed
}

// call reports once each file that a call writes although only its owner may.
func (c *checker) call(call ssa.CallInstruction) {
	reported := map[string]bool{}
	for _, w := range c.writes(call, nil, 0) {
		if message := c.message(w); message != "" && !reported[message] {
			reported[message] = true
			c.Findf(c.Syntax(call), "%s", message)
		}
	}
}

// message returns the finding that a write is, or "".
func (c *checker) message(w write) string {
	elements, last := w.path.Elements()
	o, owned := c.owner(last)
	switch {
	case w.file != nil && shown(c.Origin(w.file)):
		return "the view says where the sidecar of an owner is, and writing it makes it foreign: call a verb that the owner's home exports, or run `freehold quarantine`"
	case slices.Contains(elements, private):
		return "only the library may write in " + private + ": call `freehold state repair` or the verbs of an owner's home"
	case owned:
		return last + " is the sidecar of owner " + o.name + ", as " + o.file + " declares, and writing it makes it foreign: call a verb that " + o.home + " exports, or allow it if this is another file"
	}
	return ""
}

// shown reports whether v is the path of a sidecar in a value of package reader.
func shown(v ssa.Value) bool {
	field := program.Field(v)
	return field != nil && field.Name() == "File" && field.Pkg().Path() == generated.Reader
}

// A write is a path that a call writes, and the argument that names it, if one
// argument of the call does.
type write struct {
	path fileio.Path
	file ssa.Value
}

// deepest bounds how far calls of functions of the package are followed.
const deepest = 3

// writes returns the writes of a call by itself, and the writes of the function
// called that depend on the arguments: a file that the function writes in any
// case is reported in the function.
func (c *checker) writes(call ssa.CallInstruction, env fileio.Env, depth int) (all []write) {
	fn, args := c.Callee(call.Common())
	for _, turn := range c.turns(call, env) {
		for _, a := range c.Accesses(call) {
			if a.Op != fileio.Read && a.Op != fileio.Open {
				all = append(all, write{c.Of(a.Root, a.Path, turn), a.Path})
			}
		}
		for _, path := range c.Commands(call, turn) {
			all = append(all, write{path: path})
		}
		if fn == nil || depth == deepest || !c.names(args, turn) {
			continue
		}
		bound := c.Bind(fn, args, turn)
		for inner := range program.Calls(fn) {
			always := c.writes(inner, nil, deepest)
			for _, w := range c.writes(inner, bound, depth+1) {
				if !slices.ContainsFunc(always, w.sameName) {
					all = append(all, write{path: w.path})
				}
			}
		}
	}
	return all
}

// sameName reports whether two writes are of files with the same constant name.
func (w write) sameName(other write) bool {
	_, name := w.path.Elements()
	_, otherName := other.path.Elements()
	return name != "" && name == otherName
}

// turns returns env for each turn of a loop, over elements that the code spells
// out, that an argument of the call depends on; env alone if there is none.
func (c *checker) turns(call ssa.CallInstruction, env fileio.Env) (all []fileio.Env) {
	for _, v := range c.Sources(call.Common().Args...) {
		for _, element := range c.Turns(v) {
			all = append(all, env.With(v, c.Path(element, env)))
		}
		if all != nil {
			return all
		}
	}
	return []fileio.Env{env}
}

// names reports whether an argument of a call has a constant part of a file's name.
func (c *checker) names(args []ssa.Value, env fileio.Env) bool {
	return slices.ContainsFunc(args, func(arg ssa.Value) bool {
		constant, _ := c.Path(arg, env).Elements()
		return types.Identical(arg.Type().Underlying(), types.Typ[types.String]) && len(constant) > 0
	})
}

// owner returns the owner of the sidecar of this name. The declarations are
// read only where some file of such a name is written.
func (c *checker) owner(sidecar string) (owner, bool) {
	if !strings.HasSuffix(sidecar, ".json") {
		return owner{}, false
	}
	if c.owners == nil {
		c.owners = declared(c.Fset.Position(c.Files[0].Package).Filename)
	}
	o, ok := c.owners[sidecar]
	return o, ok
}

// An owner is an owner that an owners.yaml of the module declares.
type owner struct {
	name, home string
	file       string // the declaration, relative to the module root
}

// declared returns the owners that are declared in the module of the Go file
// named, by the names of their sidecars. A declaration with mistakes declares
// nothing here: generating reports the mistakes.
func declared(goFile string) map[string]owner {
	owners := map[string]owner{}
	module, err := tree.Find(filepath.Dir(goFile))
	if err != nil {
		return owners
	}
	files, _ := module.States()
	for _, file := range files {
		src, err := module.Load(filepath.Join(module.Dir, filepath.FromSlash(file)))
		if err != nil {
			continue
		}
		for name, o := range src.Declaration.Owners {
			owners[name+".json"] = owner{name, o.Home, file}
		}
	}
	return owners
}
