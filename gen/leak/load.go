package leak

import (
	"context"
	"errors"
	"fmt"
	"go/token"
	"path/filepath"

	"golang.org/x/tools/go/packages"
)

// Load checks every package of the module at dir, whose path is module, as
// [Check] does. The leaks' positions are resolved. It returns an error if the
// module cannot be loaded; code that does not compile is no such error, and
// what it exports is checked as far as it goes.
func Load(ctx context.Context, dir, module string, writer func(path string) bool) ([]Found, error) {
	loaded, err := packages.Load(&packages.Config{
		Context: ctx,
		Dir:     dir,
		Fset:    token.NewFileSet(),
		// Syntax makes the module's own packages be read from source, so
		// that one which does not compile is not passed over.
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedExportFile,
	}, "./...")
	if err != nil {
		return nil, fmt.Errorf("load the packages of %s: %w; see what `go list ./...` says there", module, err)
	}
	var found []Found
	var problems []error
	for _, p := range loaded {
		if p.Types == nil {
			for _, problem := range p.Errors {
				problems = append(problems, problem)
			}
			continue
		}
		for _, l := range Check(p.Types, module, writer) {
			position := p.Fset.Position(l.Pos)
			if name, err := filepath.Rel(dir, position.Filename); err == nil {
				position.Filename = name
			}
			found = append(found, Found{l, position})
		}
	}
	return found, errors.Join(problems...)
}

// Found is a leak and the position of the exported name, in a file relative to
// the module's directory.
type Found struct {
	Leak
	Position token.Position
}

// String is the position and what the leak says.
func (f Found) String() string { return f.Position.String() + ": " + f.Leak.String() }
