package readmodifywrite_test

import (
	"path/filepath"
	"testing"

	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/readmodifywrite"
	"golang.org/x/tools/go/analysis/analysistest"
)

func Test(t *testing.T) {
	analysistest.Run(t, filepath.Join(analysistest.TestData(), "src"), readmodifywrite.Analyzer, "./...")
}
