package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/reader/statetest"
	"github.com/freehold-dev/freehold/schema/declare"
	"github.com/freehold-dev/freehold/sidecar"
)

// freshState returns a new state directory of testdata/state.yaml.
func freshState(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "state")
	makeState(t, dir)
	statetest.Healthy(t, dir)
	return dir
}

// homeOfTests is where tests begin.
var homeOfTests, _ = os.Getwd()

// makeState makes dir a state directory of testdata/state.yaml.
func makeState(t *testing.T, dir string) {
	t.Helper()
	makeStateOf(t, dir, "state.yaml")
}

// makeStateOf makes dir a state directory of a file in testdata.
func makeStateOf(t *testing.T, dir, file string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(homeOfTests, "testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	source, err := declare.Parse(file, ".", text)
	if err != nil {
		t.Fatal(err)
	}
	if err := sidecar.Create(dir, source.Declaration); err != nil {
		t.Fatal(err)
	}
}

// must runs a command line that has to succeed without a word on stderr.
func must(t *testing.T, args ...string) string {
	t.Helper()
	got := call(t, "", args...)
	if got.Status != failure.ExitDone || got.Stderr != "" {
		t.Fatalf("freehold %q: status %d, stderr %s", args, got.Status, got.Stderr)
	}
	return got.Stdout
}
