package main

import (
	"path/filepath"
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"
)

// TestChecksFindTheirFixtures runs each check on the packages in its testdata.
// The check may report the findings of the want comments, and no others.
func TestChecksFindTheirFixtures(t *testing.T) {
	for _, check := range checks {
		t.Run(check.Name, func(t *testing.T) {
			t.Parallel() // loading waits for the go command
			dir, err := filepath.Abs(filepath.Join("internal", check.Name, "testdata", "src"))
			if err != nil {
				t.Fatal(err)
			}
			analysistest.Run(t, dir, check, "./...")
		})
	}
}
