package ownersfile

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/gen/tree"
)

const (
	ownModule = "github.com/freehold-dev/freehold"
	ownTool   = ownModule + "/cmd/freehold"
)

// missing returns the commands that m needs before its go:generate lines work.
func missing(m *tree.Module) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(m.Dir, "go.mod"))
	switch {
	case err != nil:
		return nil, err
	case m.Path == ownModule, strings.Contains(string(text), ownTool):
		return nil, nil
	case strings.Contains(string(text), ownModule+" => "):
		return []string{"go mod edit -tool=" + ownTool, "go mod tidy"}, nil
	}
	// `go get -tool` wants a release; a program built from a checkout may have none.
	_, file, _, _ := runtime.Caller(0)
	checkout, _, _ := strings.Cut(file, "/cmd/freehold/")
	if _, err := os.Stat(filepath.Join(checkout, "go.mod")); err != nil || strings.Contains(checkout, "@") || !filepath.IsAbs(checkout) {
		return []string{"go get -tool " + ownTool + "@latest"}, nil
	}
	return []string{failure.Line("go", "mod", "edit", "-replace="+ownModule+"="+checkout, "-tool="+ownTool), "go mod tidy"}, nil
}
