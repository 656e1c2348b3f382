package leak

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// rest holds the files of a module that the go command passes over here and can
// be made to compile: behind a build constraint, for another system, below
// testdata or a folder that begins with "_". An import finds the last two by path.
type rest struct {
	fset    *token.FileSet
	folders map[string]*folder        // those with such files, by import path
	known   map[string]*types.Package // all that the go command has loaded
}

// A folder has the files of one import path: those that the go command compiles
// here, and the others.
type folder struct {
	compiled, others []*ast.File
	checked          *types.Package // as others import it
	checking         bool
}

// restOf reads the files below root, the path of the module, that are in none of
// the loaded packages. Files of tests are left out, since no package imports
// them, and so are files that are no Go, as testdata may have.
func restOf(root, module string, loaded []*packages.Package) (*rest, error) {
	r := &rest{token.NewFileSet(), map[string]*folder{}, map[string]*types.Package{}}
	compiled := map[string]bool{}
	for _, p := range loaded {
		for _, name := range slices.Concat(p.GoFiles, p.CompiledGoFiles) {
			compiled[name] = true
		}
		r.know(p.Types)
	}
	folders := map[string][]string{} // names of files
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != root && (d.Name() == "vendor" || d.Name() == ".git" || isModule(name)):
			return fs.SkipDir
		case d.Type().IsRegular() && strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go"):
			folders[filepath.Dir(name)] = append(folders[filepath.Dir(name)], name)
		}
		return nil
	})
	for dir, names := range folders {
		f := &folder{}
		for _, name := range names {
			file, err := parser.ParseFile(r.fset, name, nil, parser.SkipObjectResolution)
			switch {
			case err != nil:
			case compiled[name]:
				f.compiled = append(f.compiled, file)
			default:
				f.others = append(f.others, file)
			}
		}
		if rel, err := filepath.Rel(root, dir); err == nil && len(f.others) > 0 {
			r.folders[path.Join(module, filepath.ToSlash(rel))] = f
		}
	}
	return r, err
}

func isModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

// know adds p and all packages that p imports.
func (r *rest) know(p *types.Package) {
	if p == nil || r.known[p.Path()] != nil {
		return
	}
	r.known[p.Path()] = p
	for _, imported := range p.Imports() {
		r.know(imported)
	}
}

// imported returns the packages of other modules that the loaded ones import, and
// that import a writer, both also indirectly.
func (r *rest) imported(loaded []*packages.Package, isWriter func(path string) bool) (all []*types.Package) {
	own := map[string]bool{}
	for _, p := range loaded {
		own[p.PkgPath] = true
	}
	has := map[*types.Package]bool{}
	var visit func(p *types.Package) bool
	visit = func(p *types.Package) bool {
		if _, seen := has[p]; !seen {
			has[p] = isWriter(p.Path())
			has[p] = slices.ContainsFunc(p.Imports(), visit) || has[p]
		}
		return has[p]
	}
	for _, importPath := range slices.Sorted(maps.Keys(r.known)) {
		if p := r.known[importPath]; !own[importPath] && visit(p) {
			all = append(all, p)
		}
	}
	return all
}

// packages calls fn with a package for each file that the go command passes over.
// The file comes first in the package, the files that compile here follow, then
// the others: of two declarations of a name the first counts.
func (r *rest) packages(fn func(*types.Package)) {
	for importPath, f := range r.folders {
		for _, file := range f.others {
			fn(r.check(importPath, slices.Concat([]*ast.File{file}, f.compiled, f.others)))
		}
	}
}

// check type-checks those of the files that have the package name of the first,
// as far as possible. Bodies do not matter: the types of exported names do.
func (r *rest) check(importPath string, files []*ast.File) *types.Package {
	var same []*ast.File
	for _, file := range files {
		if file.Name.Name == files[0].Name.Name && !slices.Contains(same, file) {
			same = append(same, file)
		}
	}
	config := types.Config{Importer: r, IgnoreFuncBodies: true, FakeImportC: true, Error: func(error) {}}
	p, _ := config.Check(importPath, r.fset, same, nil)
	return p
}

// Import implements [types.Importer]. A folder with files that are passed over
// has all of them. Without a package, not there or in a cycle, the type checker
// goes on.
func (r *rest) Import(importPath string) (*types.Package, error) {
	f := r.folders[importPath]
	if f == nil {
		return r.known[importPath], nil
	}
	if f.checked == nil && !f.checking {
		f.checking = true
		f.checked = r.check(importPath, slices.Concat(f.compiled, f.others))
	}
	return f.checked, nil
}
