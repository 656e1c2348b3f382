package tree

import (
	"errors"
	"fmt"
	"go/build"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/freehold-dev/freehold/gen"
)

// A Neighbour is a Go file of another package than its neighbours are to have.
type Neighbour struct {
	File    string // slash path, relative to the module root
	Package string
}

// Neighbours returns the Go files in folder, a slash path, that are of another
// package than pkg: it and they would not build together. Tests and files that
// a build constraint excludes are none.
func (m *Module) Neighbours(folder, pkg string) []Neighbour {
	var found []Neighbour
	dir := filepath.Join(m.Dir, filepath.FromSlash(folder))
	entries, _ := os.ReadDir(dir) // a new directory has no neighbours
	for _, entry := range entries {
		if !builds(dir, entry) {
			continue
		}
		if theirs := packageOf(filepath.Join(dir, entry.Name()), nil); theirs != "" && theirs != pkg {
			found = append(found, Neighbour{path.Join(folder, entry.Name()), theirs})
		}
	}
	return found
}

// checkNeighbours reports every Go file beside a generated one that is of
// another package, and that is not generated itself.
func (m *Module) checkNeighbours(states []gen.State, ours map[string]bool) error {
	var problems []error
	looked := map[string]bool{} // into this folder
	for _, s := range states {
		for _, file := range s.Files {
			if path.Ext(file.Path) != ".go" || looked[path.Dir(file.Path)] {
				continue
			}
			looked[path.Dir(file.Path)] = true
			mine := packageOf(file.Path, file.Data)
			for _, n := range m.Neighbours(path.Dir(file.Path), mine) {
				if !ours[n.File] {
					problems = append(problems, fmt.Errorf("%s is of package %s, and %s of package %s is to stand beside it: %s",
						n.File, n.Package, path.Base(file.Path), mine, wayOut(file.Path, n.Package)))
				}
			}
		}
	}
	return errors.Join(problems...)
}

// wayOut says what to do about a package theirs beside the generated file.
func wayOut(file, theirs string) string {
	switch {
	case !gen.IsViewFile(path.Base(file)):
		return "move it"
	case theirs == "main":
		return "move " + Declaration + " to a folder of its own"
	}
	return fmt.Sprintf("move %s to a folder of its own, or say `package: %s` in it", Declaration, theirs)
}

// builds reports whether the Go file in dir is part of dir's package: no test,
// and not excluded as generators are that say "//go:build ignore".
func builds(dir string, entry os.DirEntry) bool {
	name := entry.Name()
	if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
		return false
	}
	if info, err := os.Stat(filepath.Join(dir, name)); err != nil || !info.Mode().IsRegular() {
		return false // Go ignores it, and reading a pipe would wait
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
