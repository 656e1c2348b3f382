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
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/gen"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/schema/declare"
)

// A home is the home of one owner of a state of the module.
type home struct {
	src   *declare.Source
	owner string
	dir   string
}

// checkHomes compares the homes of srcs with those of all states of the module:
// code below two homes could write for both owners. Package declare has
// compared the homes within one state. The error is [declare.Problems].
func checkHomes(srcs, others []*declare.Source) error {
	var problems declare.Problems
	var before []home
	all := slices.Concat(others, srcs)
	for i, src := range all {
		var own []home
		for _, name := range src.Declaration.OwnerNames() {
			h := home{src, name, src.Declaration.Owners[name].Home}
			problem := h.aroundState(all, i, len(others))
			if problem == nil && i >= len(others) {
				problem = h.clash(before)
			}
			problems = append(problems, problem...)
			own = append(own, h)
		}
		before = append(before, own...)
	}
	if len(problems) == 0 {
		return nil
	}
	return problems
}

// aroundState reports the first state with a folder in h. h belongs to the i-th
// state. The first known states are not reported among each other.
func (h home) aroundState(all []*declare.Source, i, known int) declare.Problems {
	for j, src := range all {
		if i != j && max(i, j) >= known && within(src.Folder, h.dir) {
			return h.problem("contains the folder of %s, and with it the code of all readers of that state: move one of them", path.Join(src.Folder, Declaration))
		}
	}
	return nil
}

// clash reports the first of the other homes that is not apart from h.
func (h home) clash(others []home) declare.Problems {
	for _, other := range others {
		switch {
		case strings.EqualFold(h.dir, other.dir):
			return h.problem("is also the home of %s, and each could write the other's fields: choose another folder", other)
		case within(h.dir, other.dir):
			return h.problem("is in the home of %s, and could write for both: put them side by side", other)
		case within(other.dir, h.dir):
			return h.problem("contains the home of %s, which could write for both: put them side by side", other)
		}
	}
	return nil
}

func (h home) problem(format string, other any) declare.Problems {
	line, col := h.src.Place(schema.PointerTo(h.owner, ""))
	return declare.Problems{{File: h.src.File, Line: line, Col: col,
		What: fmt.Sprintf("the home of owner %s, %s, ", h.owner, h.dir) + fmt.Sprintf(format, other)}}
}

// String names a home in the problem of another.
func (h home) String() string {
	line, col := h.src.Place(schema.PointerTo(h.owner, ""))
	return fmt.Sprintf("owner %s, %s at %s:%d:%d", h.owner, h.dir, h.src.File, line, col)
}

// within reports whether the slash path inner is outer or below it. Case does
// not count, because some disks ignore case.
func within(inner, outer string) bool {
	inner, outer = strings.ToLower(inner), strings.ToLower(outer)
	return inner == outer || strings.HasPrefix(inner, outer+"/")
}

// A neighbour is a Go file of another package than the folder is to have.
type neighbour struct {
	File    string // slash path, relative to the module root
	Package string
}

// Neighbours returns the Go files in folder, a slash path, that belong to
// another package than pkg and would not build with it: neither tests nor files
// that a build constraint excludes.
func (m *Module) Neighbours(folder, pkg string) []neighbour {
	var found []neighbour
	dir := filepath.Join(m.Dir, filepath.FromSlash(folder))
	entries, _ := os.ReadDir(dir) // a new directory has no neighbours
	for _, entry := range entries {
		if !builds(dir, entry.Name()) {
			continue
		}
		if other := packageOf(filepath.Join(dir, entry.Name()), nil); other != "" && other != pkg {
			found = append(found, neighbour{path.Join(folder, entry.Name()), other})
		}
	}
	return found
}

// checkNeighbours reports all Go files of another package beside generated
// ones, except those at the paths generated.
func (m *Module) checkNeighbours(states []state, generated map[string]bool) error {
	var problems []error
	checked := map[string]bool{} // by folder
	for _, s := range states {
		for _, file := range s.files {
			folder := path.Dir(file.Path)
			if path.Ext(file.Path) != ".go" || checked[folder] {
				continue
			}
			checked[folder] = true
			own := packageOf(file.Path, file.Data)
			for _, n := range m.Neighbours(folder, own) {
				if !generated[n.File] {
					problems = append(problems, fmt.Errorf("%s is of package %s, and %s of package %s is to stand beside it: %s",
						n.File, n.Package, path.Base(file.Path), own, wayOut(file.Path, n.Package)))
				}
			}
		}
	}
	return errors.Join(problems...)
}

// wayOut says how to part the generated file and the package other.
func wayOut(file, other string) string {
	switch {
	case !gen.IsViewFile(path.Base(file)):
		return "move it"
	case other == "main":
		return "move " + Declaration + " to a folder of its own"
	}
	return fmt.Sprintf("move %s to a folder of its own, or say `package: %s` in it", Declaration, other)
}

// builds reports whether the file in dir is part of dir's package: a Go file,
// no test, and not excluded as with "//go:build ignore".
func builds(dir, name string) bool {
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
