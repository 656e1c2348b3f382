package tree

import (
	"crypto/rand"
	"errors"
	"fmt"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/gen"
	"github.com/freehold-dev/freehold/schema/declare"
)

// Plan compares what src generates with what stands in the module and changes
// nothing. It returns an error that names what is in the way if a file that
// Freehold did not generate stands where one is to be written, or if a folder
// holds a Go package of another name.
func (m *Module) Plan(src *declare.Source) (*gen.Plan, error) {
	want, err := gen.Generate(src, m.Path)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(m.Dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	tree, err := scan(root, m.Path, want)
	if err != nil {
		return nil, err
	}
	plan, err := gen.Compare(path.Clean(src.Folder), want, tree)
	if err != nil {
		return nil, err
	}
	dropAliases(root, plan, want)
	return plan, m.checkNeighbours(want, plan)
}

// checkNeighbours reports every Go file beside a generated one that is of
// another package: the two would not build together.
func (m *Module) checkNeighbours(want []gen.File, plan *gen.Plan) error {
	ours := map[string]bool{}
	for _, file := range want {
		ours[file.Path] = true
	}
	for _, file := range plan.Remove {
		ours[file.Path] = true
	}
	var problems []error
	for _, file := range want {
		if path.Ext(file.Path) != ".go" {
			continue
		}
		mine := packageOf(file.Path, file.Data)
		dir := filepath.Join(m.Dir, filepath.FromSlash(path.Dir(file.Path)))
		entries, _ := os.ReadDir(dir) // a new directory has no neighbours
		for _, entry := range entries {
			neighbour := path.Join(path.Dir(file.Path), entry.Name())
			if ours[neighbour] || !builds(dir, entry.Name()) {
				continue
			}
			if theirs := packageOf(filepath.Join(dir, entry.Name()), nil); theirs != "" && theirs != mine {
				problems = append(problems, fmt.Errorf("%s is of package %s, and %s of package %s is to stand beside it: %s",
					neighbour, theirs, path.Base(file.Path), mine, wayOut(file.Path, theirs)))
			}
		}
	}
	return errors.Join(problems...)
}

// wayOut says what to do about a package theirs beside the generated file.
func wayOut(file, theirs string) string {
	switch {
	case path.Base(file) != gen.ViewFile:
		return "move it"
	case theirs == "main":
		return "move " + Declaration + " to a folder of its own"
	}
	return fmt.Sprintf("move %s to a folder of its own, or say `package: %s` in it", Declaration, theirs)
}

// builds reports whether the Go file name in dir is part of dir's package: no
// test, and not excluded as generators are that say "//go:build ignore".
func builds(dir, name string) bool {
	if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
		return false
	}
	ok, err := build.Default.MatchFile(dir, name)
	return ok && err == nil
}

// packageOf returns the name in a Go file's package clause, or "". If text is
// nil the file is read.
func packageOf(name string, text []byte) string {
	var src any
	if text != nil {
		src = text
	}
	f, err := parser.ParseFile(token.NewFileSet(), name, src, parser.PackageClauseOnly)
	if err != nil {
		return ""
	}
	return f.Name.Name
}

// Apply carries out plan: it replaces files, each as a whole, then removes
// orphans and the directories that they leave empty. After an error some files
// are old and some new; Plan says which, and Apply may be called again.
func (m *Module) Apply(plan *gen.Plan) error {
	root, err := os.OpenRoot(m.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, c := range plan.Write {
		if err := replace(root, c.Path, c.New); err != nil {
			return err
		}
	}
	for _, file := range plan.Remove {
		// Plans of several states all remove what belongs to none.
		if err := root.Remove(file.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		removeEmpty(root, path.Dir(file.Path))
	}
	return nil
}

// replace writes a file beside name and renames it to name. Generated files
// need no sync: they can be generated again. Package renameio, which writes
// the sidecars, does not build on every platform that develops Go.
func replace(root *os.Root, name string, data []byte) error {
	if err := root.MkdirAll(path.Dir(name), 0o777); err != nil {
		return err
	}
	temp := path.Join(path.Dir(name), "."+path.Base(name)+"."+rand.Text())
	if err := root.WriteFile(temp, data, 0o666); err != nil {
		return errors.Join(err, root.Remove(temp))
	}
	if err := root.Rename(temp, name); err != nil {
		return errors.Join(err, root.Remove(temp))
	}
	return nil
}

// removeEmpty removes dir and the directories above it as long as they are
// empty.
func removeEmpty(root *os.Root, dir string) {
	for dir != "." && root.Remove(dir) == nil {
		dir = path.Dir(dir)
	}
}

// States lists every owners.yaml of the module, as slash paths relative to its
// root, sorted.
func (m *Module) States() ([]string, error) {
	root, err := os.OpenRoot(m.Dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	tree, err := scan(root, m.Path, nil)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, folder := range tree.Folders {
		files = append(files, path.Join(folder, Declaration))
	}
	slices.Sort(files)
	return files, nil
}
