package sidecar

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/freehold-dev/freehold/schema"
)

// A pending patch stays pending and counts when a sidecar of another state is
// accepted, which lists other patches as folded.
func TestAcceptLosesNothingThatIsSetPending(t *testing.T) {
	_, other := newSetters(t)
	for range 3 {
		deferUpdate(t, other, op("n", schema.VerbAdd, "100"))
	}
	update(t, other, ops())
	dir, w := newSetters(t)
	deferUpdate(t, w, op("n", schema.VerbAdd, "1"))
	update(t, w, ops())
	deferUpdate(t, w, op("peak", schema.VerbRaise, "7"))
	path := sidecarPath(dir, "tool")
	if err := os.WriteFile(path, []byte(readFile(t, sidecarPath(other.dir.Path(), "tool"))), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Accept(t.Context(), dir, "tool", nil); err != nil {
		t.Fatal(err)
	}
	if got := shown(t, w, "peak"); got != "7" {
		t.Errorf("a view shows %q, want 7", got)
	}
	deferUpdate(t, w, op("peak", schema.VerbRaise, "8"))
	if diff := cmp.Diff(map[string]string{"peak": "8"}, values(t, w, "peak")); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
	nonePending(t, w)
}

// What a sidecar had folded that another hand has edited since is not folded
// again after it was moved aside, though its files may have come back.
func TestQuarantineOfAnEditedSidecarFoldsNothingTwice(t *testing.T) {
	dir, w := newSetters(t)
	deferUpdate(t, w, op("n", schema.VerbAdd, "10"))
	name := pendingNames(t, w)[0]
	file := filepath.Join(dir, ".freehold", "tool.pending", name)
	patch := readFile(t, file)
	update(t, w, ops())
	if err := os.WriteFile(file, []byte(patch), 0o600); err != nil { // as after a kill in between
		t.Fatal(err)
	}
	path := sidecarPath(dir, "tool")
	edited := strings.Replace(readFile(t, path), `"n":10`, `"n":11`, 1)
	if err := os.WriteFile(path, []byte(edited), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Quarantine(t.Context(), dir, "tool", nil); err != nil {
		t.Fatal(err)
	}
	deferUpdate(t, w, op("n", schema.VerbAdd, "1"))
	if diff := cmp.Diff(map[string]string{"n": "1"}, values(t, w, "n")); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
}
