package demo

import (
	"os"
	"testing"

	"github.com/freehold-dev/freehold/sidecar/scratch"
)

// TestMain lets the test binary be the program that the demo starts copies of.
func TestMain(m *testing.M) {
	if status, ok := OldHook(os.Args[1:], os.Stdin, os.Stdout, os.Stderr); ok {
		os.Exit(status)
	}
	// The race detector sleeps a second at the end of every process otherwise.
	os.Setenv("GORACE", "atexit_sleep_ms=0")
	scratch.Main(scratch.Use{Room: 512 << 20, Programs: true})
	os.Exit(m.Run())
}

// options returns the options of a demo whose directory the test removes.
func options(t *testing.T) Options {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", t.TempDir())
	return Options{Self: self}
}
