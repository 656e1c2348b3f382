package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/freehold-dev/freehold/cmd/internal/failure"
)

// Case 90: a legacy file without permission to read is not an absent one. Root
// always has it, so this takes another user.
func TestAnUnreadableLegacyFileIsNotAbsent(t *testing.T) {
	program, dir := nobodysState(t)
	legacy := filepath.Join(filepath.Dir(dir), "runtime.json")
	if err := os.WriteFile(legacy, []byte(`{"f": 1}`), 0); err != nil {
		t.Fatal(err)
	}
	before := listing(t, dir)
	got := asNobody(t, program, "adopt", legacy, "--dir", dir)
	if want := "freehold: error: " + legacy + ": unreadable: open: permission denied\nfreehold: hint: make the file readable, or name another one\n"; got != (result{failure.ExitState, "", want}) {
		t.Errorf("got %+v", got)
	}
	if diff := cmp.Diff(before, listing(t, dir)); diff != "" {
		t.Errorf("the state was touched (-before +after):\n%s", diff)
	}
}

// A dry run is a read: it needs no permission to write, and touches nothing.
func TestADryRunTouchesNothing(t *testing.T) {
	program, dir := nobodysState(t)
	legacy := filepath.Join(filepath.Dir(dir), "runtime.json")
	if err := os.WriteFile(legacy, []byte(`{"f": 2, "name": "x"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	before := listing(t, dir)
	got := asNobody(t, program, "adopt", legacy, "--dir", dir, "--dry-run")
	want := result{
		failure.ExitIO, "reset would be refused now; once it is not, it would import\n  name: x\n  kept: f is 1, by freehold.test; the file has 2\n",
		"freehold: error: owner reset: would be refused: write in " + dir + ": permission denied\n",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, listing(t, dir)); diff != "" {
		t.Errorf("the state was touched (-before +after):\n%s", diff)
	}
}
