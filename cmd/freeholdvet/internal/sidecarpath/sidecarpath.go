package sidecarpath

import (
	_ "embed"
	"go/token"
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
	c := &checker{Pass: pass, Tracer: fileio.NewTracer(p), reported: map[finding]bool{}}
	for _, fn := range p.Functions {
		for call := range program.Calls(fn) {
			if pass.ByHand(call.Pos()) && p.Syntax(call) != nil {
				c.call(call)
			}
		}
	}
}

type checker struct {
	*check.Pass
	*fileio.Tracer
	owners   map[string]owner // by the name of the sidecar; nil until needed
	reported map[finding]bool
}

// A finding is a message at a place.
type finding struct {
	at      token.Pos
	message string
}

// call reports the files that a call writes although only their owners may.
func (c *checker) call(call ssa.CallInstruction) {
	for _, w := range c.writes(call, nil, 0) {
		if w.file != nil && shown(c.Origin(w.file)) {
			c.report(call, "the view says where the sidecar of an owner is, and writing it makes it foreign: call a verb that the owner's home exports, or run `freehold quarantine`")
			continue
		}
		c.check(w.path, call)
	}
}

// check reports that a call writes the file of a path, if only its owner may.
func (c *checker) check(path fileio.Path, call ssa.CallInstruction) {
	elements, last := path.Elements()
	if slices.Contains(elements, private) {
		c.report(call, "only the library may write in "+private+": call `freehold state repair` or the verbs of an owner's home")
		return
	}
	if o, ok := c.owner(last); ok {
		c.report(call, last+" is the sidecar of owner "+o.name+", as "+o.file+" declares, and writing it makes it foreign: call a verb that "+o.home+" exports, or allow it if this is another file")
	}
}

// report reports a message once at a call.
func (c *checker) report(call ssa.CallInstruction, message string) {
	if f := (finding{call.Pos(), message}); !c.reported[f] {
		c.reported[f] = true
		c.Findf(c.Syntax(call), "%s", message)
	}
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

// writes returns the writes of a call, and those of the function that it calls
// which its arguments decide: a file that the function writes whatever the
// arguments are is reported in the function.
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
	for v := range c.Sources(call.Common().Args...) {
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
