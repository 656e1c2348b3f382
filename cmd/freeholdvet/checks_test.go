package main

import (
	"path/filepath"
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"
)

// TestChecksFindTheirFixtures runs each check on the packages in its testdata,
// whose want comments are all that it may report.
func TestChecksFindTheirFixtures(t *testing.T) {
	for _, check := range checks {
		t.Run(check.Name, func(t *testing.T) {
			dir, err := filepath.Abs(filepath.Join("internal", check.Name, "testdata", "src"))
			if err != nil {
				t.Fatal(err)
			}
			analysistest.Run(t, dir, check, "./...")
		})
	}
}
