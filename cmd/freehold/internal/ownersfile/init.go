package ownersfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/mod/module"

	"github.com/freehold-dev/freehold/cmd/freehold/internal/cli"
	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/gen/tree"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/schema/declare"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// directiveFile carries the go:generate line. It is a file of its own, because
// the view package's generated file is not there before the first run.
const directiveFile = "generate.go"

func newInit(c *cli.Call) *cobra.Command {
	return c.Command(&cobra.Command{
		Use:   "init [DIR]",
		Short: "write a first owners.yaml",
		Long: `Write a first owners.yaml in DIR, with a generate.go beside it that carries the
go:generate line, and print the commands that this module still needs. DIR names the
state and the package that reads it; the default is owners/NAME, NAME being the last
element of the module's path. Nothing is overwritten.`,
		Example: "  freehold init owners/runtime",
		Args:    cli.Operands(0, 1, "at most one DIR"),
	}, func(_ context.Context, args []string) error {
		m, err := tree.Find(append(args, ".")[0])
		if err != nil {
			return ofModule(err)
		}
		dir := filepath.Join(m.Dir, "owners", stateName(path.Base(withoutMajor(m.Path))))
		if len(args) > 0 {
			if dir, err = filepath.Abs(args[0]); err != nil {
				return err
			}
		}
		r, err := initialize(m, dir)
		if err != nil {
			return err
		}
		return c.Answer(r, r.text())
	})
}

// withoutMajor returns a module path without its major version.
func withoutMajor(name string) string {
	if prefix, _, ok := module.SplitPathVersion(name); ok {
		return prefix
	}
	return name
}

// stateName turns a name of another style into one that a state may have, if
// there is an obvious way.
func stateName(name string) string {
	return strings.NewReplacer("-", "_", ".", "_", " ", "_").Replace(strings.ToLower(name))
}

// example is the remedy of a directory that cannot hold a declaration.
var example = store.Remedy{Verb: "init", Args: []string{"owners/runtime"}, Note: "name a folder of its own"}

// initialize writes the first files of a state.
func initialize(m *tree.Module, dir string) (*initReport, error) {
	state := filepath.Base(dir)
	if !schema.ValidName(state) {
		remedy := example
		if better := stateName(state); schema.ValidName(better) {
			remedy = store.Remedy{Note: "name the directory " + better}
		}
		return nil, store.WithRemedy(failure.Usage("the directory %q names the state, and a name fits %s", state, schema.NameRule), remedy)
	}
	file := filepath.Join(dir, tree.Declaration)
	folder, err := folderIn(m, file)
	if err != nil {
		return nil, err
	}
	text := declare.Template(state)
	source, err := declare.Parse(file, folder, text)
	if problems, ok := errors.AsType[declare.Problems](err); ok {
		return nil, failure.Usage("%s: %s", folder, problems[0].What) // only the place can be wrong
	} else if err != nil {
		return nil, err
	}
	if others := m.Neighbours(folder, source.Declaration.Package); len(others) > 0 {
		return nil, store.WithRemedy(
			failure.Usage("%s is of package %s, and package %s is to be in the same folder", others[0].File, others[0].Package, source.Declaration.Package), example)
	}
	commands, err := missing(m)
	if err != nil {
		return nil, err
	}
	tool := "go tool freehold"
	if m.Path == ownModule {
		tool = "go run " + ownTool
	}
	directive := fmt.Sprintf("package %s\n\n//go:generate %s gen %s\n", source.Declaration.Package, tool, tree.Declaration)
	if err := writeBoth(m, folder, text, []byte(directive)); err != nil {
		return nil, err
	}
	return &initReport{
		State: state,
		Files: []string{path.Join(folder, tree.Declaration), path.Join(folder, directiveFile)},
		Run:   append(commands, "go generate ./"+folder),
	}, nil
}

// writeBoth writes the file with the directive and then the declaration to a folder
// of the module, or none of them, and then leaves no directory. A directive that is
// there already is that of an init that was killed before its declaration.
func writeBoth(m *tree.Module, folder string, declaration, directive []byte) (err error) {
	root, err := os.OpenRoot(m.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	made, err := tree.MakeAll(root, folder)
	defer func() {
		if err != nil {
			for _, name := range slices.Backward(made) {
				err = errors.Join(err, root.Remove(name))
			}
		}
	}()
	if err != nil {
		return err
	}
	file := path.Join(folder, directiveFile)
	if there, err := tree.Read(filepath.Join(m.Dir, filepath.FromSlash(file))); err != nil || !bytes.Equal(there, directive) {
		if err := writeNew(root, file, directive); err != nil {
			return err
		}
		made = append(made, file)
	}
	return writeNew(root, path.Join(folder, tree.Declaration), declaration)
}

// writeNew writes a file that must not be there yet.
func writeNew(root *os.Root, file string, text []byte) error {
	err := tree.Create(root, file, text)
	if errors.Is(err, fs.ErrExist) {
		return failure.Usage("%s is there already: nothing was written; change it, or name another directory", filepath.Join(root.Name(), file))
	}
	return err
}

// An initReport lists the written files and the next commands.
type initReport struct {
	State string   `json:"state"`
	Files []string `json:"files"` // slash paths relative to the module root
	Run   []string `json:"run"`   // commands, in order, in the module root
}

func (r *initReport) text() string {
	return paths("wrote", r.Files) + "next, in the module's root:\n" + paths(" ", r.Run)
}

const (
	ownModule = "github.com/freehold-dev/freehold"
	ownTool   = ownModule + "/cmd/freehold"
)

// missing returns the commands that m needs before its go:generate lines work.
func missing(m *tree.Module) ([]string, error) {
	text, err := tree.Read(filepath.Join(m.Dir, "go.mod"))
	switch {
	case err != nil:
		return nil, err
	case m.Path == ownModule, strings.Contains(string(text), ownTool):
		return nil, nil
	case strings.Contains(string(text), ownModule+" => "):
		return []string{"go mod edit -tool=" + ownTool, "go mod tidy"}, nil
	}
	// `go get -tool` wants a release; a program built from a checkout may have none.
	_, file, _, _ := runtime.Caller(0)
	checkout, _, _ := strings.Cut(file, "/cmd/freehold/")
	if _, err := os.Stat(filepath.Join(checkout, "go.mod")); err != nil || strings.Contains(checkout, "@") || !filepath.IsAbs(checkout) {
		return []string{"go get -tool " + ownTool + "@latest"}, nil
	}
	return []string{failure.Line("go", "mod", "edit", "-replace="+ownModule+"="+checkout, "-tool="+ownTool), "go mod tidy"}, nil
}
