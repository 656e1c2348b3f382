package leak

import (
	_ "embed"
	"strings"

	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/check"
	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/generated"
	"github.com/freehold-dev/freehold/gen/leak"
	"golang.org/x/tools/go/analysis"
)

//go:embed doc.go
var doc string

// Analyzer is the check.
var Analyzer = check.New("leak", doc, "where every importer may write these fields", run)

func run(pass *check.Pass) {
	imports := generated.Imports(pass.Pkg)
	if imports[generated.Sidecar] == nil { // writers wrap its types
		return
	}
	writers := map[string]bool{}
	for path, pkg := range imports {
		if generated.Writer(pkg) {
			writers[path] = true
		}
	}
	for _, l := range leak.Check(pass.Pkg, module(pass), func(path string) bool { return writers[path] }) {
		if !pass.IsTest(l.Pos) { // a test's exports are not imported
			pass.Find(analysis.Diagnostic{Pos: l.Pos, Message: l.Text})
		}
	}
}

// module returns the path of the package's module or, outside of module mode,
// the first element of the package's path.
func module(pass *check.Pass) string {
	if pass.Module != nil && pass.Module.Path != "" {
		return pass.Module.Path
	}
	first, _, _ := strings.Cut(pass.Pkg.Path(), "/")
	return first
}
