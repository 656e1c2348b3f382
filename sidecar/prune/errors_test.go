package prune

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/freehold-dev/freehold/reader/statetest"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/schema/errorstest"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/store"
)

var said = errorstest.Golden{Update: flag.Bool("update", false, "write the golden files anew"), Wraps: []string{"../store", "../internal/statedir", "../internal/document", "../internal/status", "../internal/dir"}}

// TestErrorsSayWhatToDo provokes the errors of kept instances.
func TestErrorsSayWhatToDo(t *testing.T) {
	dir := newInstances(t, "claimed", "edited", "lost")
	statetest.Damaged(dir, "claim-invalid", "sidecar-invalid", "manifest-invalid")
	err := errors.Join(
		os.WriteFile(filepath.Join(dir, "edited", "hook.json"), []byte("{}"), 0o600),
		os.WriteFile(filepath.Join(dir, "claimed", ".freehold", "claims", "hook", "fired"), []byte("{}"), 0o600),
		os.Remove(filepath.Join(dir, "lost", ".freehold", "manifest.json")),
	)
	if err != nil {
		t.Fatal(err)
	}
	report, err := Run(t.Context(), dir, &Options{OlderThan: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range report.Items {
		if i.Action != Kept || !i.WantsALook() {
			t.Errorf("%+v", i)
		}
		said.Same(t, "an instance that was "+filepath.Base(i.Path), store.WithRemedy(errors.New(i.Says), i.Remedy), dir, "SESSIONS")
	}
	whole := filepath.Join(t.TempDir(), "state")
	d := declaration()
	d.Instances = schema.Instances{}
	if err := sidecar.Create(whole, d); err != nil {
		t.Fatal(err)
	}
	_, err = Run(t.Context(), filepath.Dir(whole), nil)
	said.Same(t, "no state", err)
}

// TestErrorsAreAllTold fails for an error that no test of the package provokes.
func TestErrorsAreAllTold(t *testing.T) { said.Complete(t) }
