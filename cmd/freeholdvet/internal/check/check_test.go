package check_test

import (
	"go/ast"
	"path/filepath"
	"testing"

	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/check"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"
)

const doc = "// Package toy reports bad calls\n//\n// They are bad.\npackage toy\n"

// toy reports calls of a function bad.
var toy = check.New("toy", doc, "where the call is good", func(pass *check.Pass) {
	for _, file := range pass.Files {
		for n := range ast.Preorder(file) {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				continue
			}
			if id, ok := call.Fun.(*ast.Ident); ok && id.Name == "bad" && pass.ByHand(call.Pos()) {
				pass.Findf(call, "a %s call: make none", id.Name)
			}
		}
	}
})

func src() string { return filepath.Join(analysistest.TestData(), "src") }

func TestFindingsAreAllowedWithAReasonOnly(t *testing.T) {
	analysistest.Run(t, src(), toy, "./found")
}

func TestAllowancesSayWhichAndWhy(t *testing.T) {
	analysistest.Run(t, src(), check.Allow([]*analysis.Analyzer{toy}), "./allowed")
}

func TestHelpIsTheDoc(t *testing.T) {
	if want := "reports bad calls\n\nThey are bad.\n"; toy.Doc != want {
		t.Errorf("got %q, want %q", toy.Doc, want)
	}
}
