package sidecarpath

import (
	_ "embed"
	"go/token"
	"go/types"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/check"
	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/fileio"
	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/generated"
	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/program"
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

// call reports the files that a call writes although only their owners may, by
// itself or in functions of this package.
func (c *checker) call(call ssa.CallInstruction) {
	for path, file := range c.changes(call, nil) {
		if file != nil && shown(c.Origin(file)) {
			c.report(call, "the view says where the sidecar of an owner is, and writing it makes it foreign: call a verb that the owner's home exports, or run `freehold quarantine`")
			continue
		}
		c.check(path, call)
	}
	for path := range c.within(call, nil, 0) {
		c.check(path, call)
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

// changes yields the paths that the call itself writes, each with the argument
// that names it, if one argument does.
func (c *checker) changes(call ssa.CallInstruction, env fileio.Env) iter.Seq2[fileio.Path, ssa.Value] {
	return func(yield func(fileio.Path, ssa.Value) bool) {
		accesses := slices.DeleteFunc(c.Accesses(call), func(a fileio.Access) bool { return a.Op == fileio.Read || a.Op == fileio.Open })
		for turn := range c.turns(call, env) {
			for _, a := range accesses {
				if !yield(c.Of(a.Root, a.Path, turn), a.Path) {
					return
				}
			}
			for _, path := range c.Commands(call, turn) {
				if !yield(path, nil) {
					return
				}
			}
		}
	}
}

// turns yields env for each turn of a loop, over elements that the code spells
// out, that an argument of the call depends on; env alone if there is none.
func (c *checker) turns(call ssa.CallInstruction, env fileio.Env) iter.Seq[fileio.Env] {
	return func(yield func(fileio.Env) bool) {
		for v := range c.Sources(call.Common().Args...) {
			elements := c.Turns(v)
			for _, element := range elements {
				turn := fileio.Env{}
				maps.Copy(turn, env)
				turn[v] = c.Path(element, env)
				if !yield(turn) {
					return
				}
			}
			if elements != nil {
				return
			}
		}
		yield(env)
	}
}

// names reports whether an argument of the call tells something of a file's
// name, which the function that is called may write.
func (c *checker) names(args []ssa.Value, env fileio.Env) bool {
	return slices.ContainsFunc(args, func(arg ssa.Value) bool {
		t, ok := arg.Type().Underlying().(*types.Basic)
		if !ok || t.Info()&types.IsString == 0 {
			return false
		}
		constant, _ := c.Path(arg, env).Elements()
		return len(constant) > 0
	})
}

// deepest bounds how far calls of functions of the package are followed.
const deepest = 3

// within yields the paths that a function of this package, and those that it
// calls, write because of the arguments of a call. A file that they write
// whatever the arguments are is reported where they write it.
func (c *checker) within(call ssa.CallInstruction, env fileio.Env, depth int) iter.Seq[fileio.Path] {
	return func(yield func(fileio.Path) bool) {
		fn, args := c.Callee(call.Common())
		if fn == nil || fn.Blocks == nil || depth == deepest {
			return
		}
		for turn := range c.turns(call, env) {
			if !c.names(args, turn) {
				continue
			}
			bound := c.Bind(fn, args, turn)
			for inner := range program.Calls(fn) {
				for path := range c.because(inner, bound) {
					if !yield(path) {
						return
					}
				}
				for path := range c.within(inner, bound, depth+1) {
					if !yield(path) {
						return
					}
				}
			}
		}
	}
}

// because yields the paths that a call itself writes by env alone.
func (c *checker) because(call ssa.CallInstruction, env fileio.Env) iter.Seq[fileio.Path] {
	return func(yield func(fileio.Path) bool) {
		var always []string
		for path := range c.changes(call, nil) {
			if _, name := path.Elements(); name != "" {
				always = append(always, name)
			}
		}
		for path := range c.changes(call, env) {
			if _, name := path.Elements(); !slices.Contains(always, name) && !yield(path) {
				return
			}
		}
	}
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
