package sidecarpath

import (
	_ "embed"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/check"
	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/fileflow"
	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/generated"
	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/program"
	"github.com/freehold-dev/freehold/gen/tree"
	"golang.org/x/tools/go/ssa"
)

//go:embed doc.go
var doc string

// Analyzer is the check.
var Analyzer = check.New("sidecarpath", doc, "where the file is another one of that name", run, program.Analyzer)

// private is the library's own directory in a state.
const private = ".freehold"

func run(pass *check.Pass) {
	if !fileflow.Imported(pass.Pkg) || generated.Within(pass.Pkg.Path(), generated.Sidecar) {
		return
	}
	p := pass.ResultOf[program.Analyzer].(*program.Package)
	c := &checker{Pass: pass, Tracer: fileflow.NewTracer(p)}
	for _, fn := range p.Functions {
		reported := map[string]bool{}
		for _, e := range c.Events(fn) {
			if e.Op == fileflow.Read || e.Op == fileflow.Open || e.Handle || e.Call.Parent() != fn || !pass.ByHand(e.Call.Pos()) {
				continue
			}
			for message := range c.messages(e) {
				if at := fmt.Sprint(e.Call.Pos(), message); !reported[at] {
					reported[at] = true
					pass.Findf(c.Syntax(e.Call), "%s", message)
				}
			}
		}
	}
}

type checker struct {
	*check.Pass
	*fileflow.Tracer
	owners map[string]owner // by the name of the sidecar; nil until needed
}

// messages yields the findings that the writes of an event are. A file that the
// function called writes in any case is reported in that function.
func (c *checker) messages(e fileflow.Event) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, env := range c.turns(e) {
			var always []string
			if e.Inner != nil {
				for _, p := range e.Inner(env) {
					always = append(always, c.message(p, nil))
				}
			}
			for _, p := range e.Paths(env) {
				if m := c.message(p, e.File); m != "" && !slices.Contains(always, m) && !yield(m) {
					return
				}
			}
		}
	}
}

// turns returns an environment for each turn of a loop, over elements that the
// code spells out, that the paths of an event depend on; nil alone if there is
// none.
func (c *checker) turns(e fileflow.Event) (all []fileflow.Env) {
	for v := range c.Met(e.Paths) {
		if v, ok := v.(ssa.Value); ok {
			for _, element := range c.Turns(v) {
				all = append(all, fileflow.Env{v: c.Path(element, nil)})
			}
		}
	}
	if all == nil {
		return []fileflow.Env{nil}
	}
	return all
}

// message returns the finding that writing the file at p is, or "". file is the
// value that names the file, if one does.
func (c *checker) message(p fileflow.Path, file ssa.Value) string {
	elements, last := p.Elements()
	o, owned := c.owner(last)
	switch {
	case file != nil && shown(c.Origin(file)):
		return "the view says where the sidecar of an owner is, and writing it makes it foreign: call a verb that the owner's home exports, or run `freehold quarantine`"
	case slices.Contains(elements, private):
		return "only the library may write in " + private + ": call `freehold state repair` or the verbs of an owner's home"
	case owned:
		return last + " is the sidecar of owner " + o.name + ", as " + o.file + " declares, and writing it makes it foreign: call a verb that " + o.home + " exports"
	}
	return ""
}

// shown reports whether v is the path of a sidecar in a value of package reader.
func shown(v ssa.Value) bool {
	field := program.Field(v)
	return field != nil && field.Name() == "File" && field.Pkg().Path() == generated.Reader
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
