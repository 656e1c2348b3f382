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
	"path"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/tools/go/packages"
)

// ErrUnchecked is returned by [Module.Check] if the generated code could not
// be type-checked.
var ErrUnchecked = errors.New("the generated code was not type-checked")

// Check type-checks the files of plan, as they will be once it is carried out,
// with the library that the module requires. It writes nothing. It returns
// [ErrUnchecked] if the module does not require Freehold yet, or not in a
// version that compiles.
//
// Check leaves out files that people wrote beside generated ones: a change of
// the declaration may break those, and generating must go on. So it does not
// load the packages through an overlay, nor build their imports.
func (m *Module) Check(ctx context.Context, plan *Plan) error {
	if !slices.ContainsFunc(plan.Write, func(c change) bool { return path.Ext(c.Path) == ".go" }) {
		return nil
	}
	c := &checker{fset: token.NewFileSet(), sources: map[string][]*ast.File{}, checked: map[string]*types.Package{}}
	for _, change := range plan.Write {
		c.add(m, change.Path, change.New)
	}
	for _, name := range plan.Keep {
		if text, err := Read(filepath.Join(m.Dir, filepath.FromSlash(name))); err == nil {
			c.add(m, name, text)
		}
	}
	if err := c.load(ctx, m.Dir); err != nil {
		return fmt.Errorf("%w: %w; run `go mod tidy`, then check again", ErrUnchecked, err)
	}
	for _, importPath := range slices.Sorted(maps.Keys(c.sources)) {
		if _, err := c.Import(importPath); err != nil {
			return fmt.Errorf("the generated code does not compile with the Freehold that go.mod requires: %w; generate with that release, or report a bug", err)
		}
	}
	return nil
}

// A checker type-checks generated packages.
type checker struct {
	fset    *token.FileSet
	sources map[string][]*ast.File    // by import path
	checked map[string]*types.Package // the same, and their imports
}

// add adds a Go file. An importer of one that does not parse reports it.
func (c *checker) add(m *Module, name string, text []byte) {
	if path.Ext(name) != ".go" {
		return
	}
	if file, err := parser.ParseFile(c.fset, name, text, parser.SkipObjectResolution); err == nil {
		importPath := path.Join(m.Path, path.Dir(name))
		c.sources[importPath] = append(c.sources[importPath], file)
	}
}

// load loads the imports that are not among the sources.
func (c *checker) load(ctx context.Context, dir string) error {
	missing := map[string]bool{}
	for _, files := range c.sources {
		for _, file := range files {
			for _, spec := range file.Imports {
				if importPath, _ := strconv.Unquote(spec.Path.Value); c.sources[importPath] == nil {
					missing[importPath] = true
				}
			}
		}
	}
	if err := (&Module{Dir: dir}).Loadable(); err != nil {
		return err
	}
	mode := packages.NeedName | packages.NeedTypes | packages.NeedExportFile
	loaded, err := packages.Load(&packages.Config{Context: ctx, Dir: dir, Mode: mode}, slices.Sorted(maps.Keys(missing))...)
	if err != nil {
		return err
	}
	for _, p := range loaded {
		if len(p.Errors) > 0 {
			return errors.New(p.Errors[0].Msg)
		}
		c.checked[p.PkgPath] = p.Types
	}
	for _, importPath := range slices.Sorted(maps.Keys(missing)) {
		if c.checked[importPath] == nil { // go list finds nothing at all if go.mod is out of date
			return fmt.Errorf("the go command does not load %s, as if go.mod were out of date", importPath)
		}
	}
	return nil
}

// Import implements [types.Importer].
func (c *checker) Import(importPath string) (*types.Package, error) {
	if p, ok := c.checked[importPath]; ok {
		return p, nil
	}
	config := types.Config{Importer: c}
	p, err := config.Check(importPath, c.fset, c.sources[importPath], nil)
	c.checked[importPath] = p
	return p, err
}
