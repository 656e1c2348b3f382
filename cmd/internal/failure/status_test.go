package failure

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/sidecar/store"
)

// Hook runners read 2 as "block".
func TestNoExitStatusIsTwo(t *testing.T) {
	for _, s := range Statuses {
		if s.Status == 2 {
			t.Errorf("2 means: %s", s.Meaning)
		}
	}
	for _, r := range ranks {
		if !slices.ContainsFunc(Statuses, func(s struct {
			Status  int
			Meaning string
		}) bool {
			return s.Status == r.exit
		}) {
			t.Errorf("%v exits %d, which has no meaning", r.kinds, r.exit)
		}
	}
}

func TestEveryStatusHasAnExitStatus(t *testing.T) {
	// The first is no error; reader.ErrUnset stands for the others.
	silent := []string{"ok", "missing", "unset"}
	text, err := os.ReadFile("../../../sidecar/internal/status/status.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^\t\w+ +Status = "([^"]+)"`).FindAllStringSubmatch(string(text), -1) {
		if _, known := Status(store.Status(m[1])); !known && !slices.Contains(silent, m[1]) {
			t.Errorf("the status %s has no exit status", m[1])
		}
	}
}

func TestEverySentinelHasAnExitStatus(t *testing.T) {
	unreachable := []string{"ErrPolling", "ErrResync"} // a watch goes on after these
	known := words(t, "status.go")
	for _, root := range []string{"../../../sidecar", "../../../reader"} {
		err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.Contains(path, "/internal/") {
				return err
			}
			for _, name := range sentinels(t, path) {
				if !strings.Contains(known, "."+name) && !slices.Contains(unreachable, name) {
					t.Errorf("%s declares %s, which has no exit status", path, name)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func words(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// sentinels returns the names of the exported errors that a file makes.
func sentinels(t *testing.T, file string) (names []string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.VAR {
			continue
		}
		for _, spec := range g.Specs {
			v := spec.(*ast.ValueSpec)
			if len(v.Values) != 1 || !strings.HasPrefix(v.Names[0].Name, "Err") {
				continue
			}
			if _, made := v.Values[0].(*ast.CallExpr); made {
				names = append(names, v.Names[0].Name)
			}
		}
	}
	return names
}
