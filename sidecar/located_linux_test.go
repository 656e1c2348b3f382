package sidecar

import (
	"strings"
	"syscall"
	"testing"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/testkit/inject"
)

// Whatever call of a commit fails, or of taking a lease, its error names the file
// by its whole path.
func TestErrorAtEveryCallNamesItsFile(t *testing.T) {
	plan := inject.Plan{Action: inject.Fail, Errno: syscall.EIO}.Among("openat", "mkdirat", "renameat", "linkat", "unlinkat", "write")
	names := func(t *testing.T, dir string, r inject.Result) {
		t.Helper()
		for line := range strings.Lines(string(r.Stderr)) {
			if !strings.Contains(line, dir) && !strings.HasPrefix(line, "lstat /") { // which is above it
				t.Errorf("the error names no place: %s", line)
			}
		}
	}
	t.Run("commit", func(t *testing.T) {
		t.Parallel()
		everyCall(t, aGroups, plan, func(dir string, _ int, r inject.Result) { names(t, dir, r) })
	})
	t.Run("lease", func(t *testing.T) {
		t.Parallel()
		everyLeaseCall(t, "lease", plan, func(string) {}, func(dir string, r inject.Result) { names(t, dir, r) })
	})
	t.Run("quarantine", func(t *testing.T) {
		t.Parallel()
		everyLeaseCall(t, "quarantine", plan, func(dir string) {
			strangeCost(t, dir, func(text string) string { return text[:len(text)/2] })
		}, func(dir string, r inject.Result) { names(t, dir, r) })
	})
	t.Run("deferring", func(t *testing.T) {
		t.Parallel()
		everySet(t, plan, func(w *Writer) { deferUpdate(t, w, op("n", schema.VerbAdd, "3")) }, func(dir string, r inject.Result) { names(t, dir, r) })
	})
}
