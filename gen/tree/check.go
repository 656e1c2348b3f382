package tree

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/tools/go/packages"

	"github.com/freehold-dev/freehold/gen"
)

// ErrUnchecked is returned by [Module.Check] if the generated code could not
// be type-checked, which says nothing about the code.
var ErrUnchecked = errors.New("the generated code was not type-checked")

// Check type-checks the generated files as they will be once plan is carried
// out, against the library that the module requires, and writes nothing. It
// returns [ErrUnchecked] if the module does not require Freehold yet, or not
// in a version that compiles.
//
// Files that people wrote beside generated ones are left out. There may well
// be mistakes in them just because the declaration has changed; then
// generating must go on. It also spares building what they import, which is
// why this does not load the packages through an overlay.
func (m *Module) Check(ctx context.Context, plan *gen.Plan) error {
	if !slices.ContainsFunc(plan.Write, func(c gen.Change) bool { return path.Ext(c.Path) == ".go" }) {
		return nil
	}
	c := &checker{fset: token.NewFileSet(), sources: map[string][]*ast.File{}, checked: map[string]*types.Package{}}
	for _, change := range plan.Write {
		c.add(m, change.Path, change.New)
	}
	for _, name := range plan.Keep {
		c.add(m, name, nil)
	}
	if err := c.load(ctx, m.Dir); err != nil {
		return fmt.Errorf("%w: %w; run `go mod tidy`, then check again", ErrUnchecked, err)
	}
	for _, importPath := range slices.Sorted(maps.Keys(c.sources)) {
		if _, err := c.Import(importPath); err != nil {
			return fmt.Errorf("the generated code does not compile with the Freehold that go.mod requires: generate with that release, by `go run github.com/freehold-dev/freehold/cmd/freehold gen`, or report a bug (%w)", err)
		}
	}
	return nil
}

// A checker type-checks generated packages.
type checker struct {
	fset    *token.FileSet
	sources map[string][]*ast.File    // by import path
	checked map[string]*types.Package // the same, and what they import
}

// add folds the Go file name, a slash path; if text is nil it is read. What
// does not parse is not there, and whoever imports it will say so.
func (c *checker) add(m *Module, name string, text []byte) {
	if path.Ext(name) != ".go" {
		return
	}
	if text == nil {
		text, _ = os.ReadFile(filepath.Join(m.Dir, filepath.FromSlash(name)))
	}
	if file, err := parser.ParseFile(c.fset, name, text, parser.SkipObjectResolution); err == nil {
		importPath := path.Join(m.Path, path.Dir(name))
		c.sources[importPath] = append(c.sources[importPath], file)
	}
}

// load loads what the sources import from elsewhere.
func (c *checker) load(ctx context.Context, dir string) error {
	var elsewhere []string
	for _, files := range c.sources {
		for _, file := range files {
			elsewhere = append(elsewhere, c.elsewhere(file)...)
		}
	}
	slices.Sort(elsewhere)
	elsewhere = slices.Compact(elsewhere)
	loaded, err := packages.Load(&packages.Config{
		Context: ctx,
		Dir:     dir,
		Mode:    packages.NeedName | packages.NeedTypes | packages.NeedExportFile,
	}, elsewhere...)
	if err != nil {
		return err
	}
	for _, p := range loaded {
		if len(p.Errors) > 0 {
			return errors.New(p.Errors[0].Msg)
		}
		c.checked[p.PkgPath] = p.Types
	}
	for _, importPath := range elsewhere {
		if c.checked[importPath] == nil { // go list finds nothing at all where go.mod is out of date
			return fmt.Errorf("the go command does not load %s, as where go.mod is out of date", importPath)
		}
	}
	return nil
}

// elsewhere returns what file imports and is not among the sources.
func (c *checker) elsewhere(file *ast.File) []string {
	var paths []string
	for _, spec := range file.Imports {
		importPath, err := strconv.Unquote(spec.Path.Value)
		if _, own := c.sources[importPath]; err == nil && !own {
			paths = append(paths, importPath)
		}
	}
	return paths
}

// Import implements [types.Importer].
func (c *checker) Import(importPath string) (*types.Package, error) {
	if p, ok := c.checked[importPath]; ok {
		return p, nil
	}
	files, ok := c.sources[importPath]
	if !ok {
		return nil, fmt.Errorf("no package %s", importPath)
	}
	config := types.Config{Importer: c}
	p, err := config.Check(importPath, c.fset, files, nil)
	c.checked[importPath] = p
	return p, err
}
