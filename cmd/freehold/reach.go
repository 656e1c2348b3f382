package main

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/gen/tree"
	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

const (
	ownModule = "github.com/freehold-dev/freehold"
	ownTool   = ownModule + "/cmd/freehold"
)

// generator returns the command of m's go:generate lines.
func generator(m *tree.Module) string {
	if m.Path == ownModule {
		return "go run " + ownTool
	}
	return "go tool freehold"
}

// missing returns the commands by which m comes to reach Freehold, and its
// go:generate lines to work; none if they do.
func missing(m *tree.Module) ([]string, error) {
	if m.Path == ownModule {
		return nil, nil
	}
	name := filepath.Join(m.Dir, "go.mod")
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	file, err := modfile.Parse(name, text, nil)
	if err != nil {
		return nil, ofModule(err)
	}
	if slices.ContainsFunc(file.Tool, func(t *modfile.Tool) bool { return t.Path == ownTool }) {
		return nil, nil
	}
	replaced := slices.ContainsFunc(file.Replace, func(r *modfile.Replace) bool { return r.Old.Path == ownModule })
	switch checkout := checkout(); {
	case replaced:
		return []string{"go mod edit -tool=" + ownTool, "go mod tidy"}, nil
	case published():
		return []string{"go get -tool " + ownTool + "@" + release()}, nil
	case checkout != "":
		// `go get -tool` asks for versions of the package, replaced or not, and
		// fails where no release is to be had.
		return []string{failure.Line("go", "mod", "edit", "-replace="+ownModule+"="+checkout, "-tool="+ownTool), "go mod tidy"}, nil
	}
	return []string{"go get -tool " + ownTool + "@latest"}, nil
}

// published reports whether this program was built from a release, which
// others can get too.
func published() bool {
	version := release()
	return strings.HasPrefix(version, "v") && !module.IsPseudoVersion(version) && !strings.Contains(version, "+")
}

// checkout returns the directory of the source code that this program was
// built from, if it is still there.
func checkout() string {
	_, file, _, ok := runtime.Caller(0)
	if !ok || !filepath.IsAbs(file) {
		return ""
	}
	root := filepath.Dir(filepath.Dir(filepath.Dir(file)))
	if m, err := tree.Find(root); err != nil || m.Dir != root || m.Path != ownModule {
		return ""
	}
	return root
}
