package tree_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/freehold-dev/freehold/gen/tree"
	"github.com/freehold-dev/freehold/schema/errorstest"
)

var said = errorstest.Golden{
	Update: flag.Bool("update", false, "write the golden files anew"),
}

// TestErrorsSayWhatToDo provokes every error of the package.
func TestErrorsSayWhatToDo(t *testing.T) {
	outside := t.TempDir()
	_, err := tree.Find(outside)
	said.Same(t, "find: no module", err, outside, "DIR")
	dir := lay(t, "-- go.mod --\n// nothing\n")
	_, err = tree.Find(dir)
	said.Same(t, "find: no module path", err, dir, "DIR")

	dir = lay(t, "-- go.mod --\nmodule example.com/corner\n\ngo 1.26\n-- shop.yaml --\n"+shopYAML+"-- owners/shop/owners.yaml --\n"+shopYAML+"-- folder/owners.yaml/x --\n")
	m := find(t, dir)
	large := filepath.Join(dir, "large/owners.yaml")
	if err := errors.Join(os.Mkdir(filepath.Dir(large), 0o777), os.WriteFile(large, nil, 0o666), os.Truncate(large, 1<<40)); err != nil {
		t.Fatal(err)
	}
	for how, file := range map[string]string{
		"a hole":         large,
		"another name":   filepath.Join(dir, "shop.yaml"),
		"another module": filepath.Join(outside, "owners.yaml"),
		"a folder":       filepath.Join(dir, "folder/owners.yaml"),
	} {
		_, err := m.Load(file)
		said.Same(t, "load: "+how, err, dir, "DIR", outside, "OUTSIDE")
	}
	_, p := plan(t, dir, "owners/shop/owners.yaml")
	err = m.Check(t.Context(), p)
	said.Same(t, "check: Freehold is not required", err, dir, "DIR")
	if !errors.Is(err, tree.ErrUnchecked) {
		t.Errorf("Freehold is not required: got %v, want ErrUnchecked", err)
	}
	checkout, err := tree.Find(".")
	if err != nil {
		t.Fatal(err)
	}
	stale := fmt.Sprintf("module example.com/corner\n\ngo 1.26\n\nrequire github.com/freehold-dev/freehold v0.0.0\n\nreplace github.com/freehold-dev/freehold => %s\n", checkout.Dir)
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(stale), 0o666); err != nil {
		t.Fatal(err)
	}
	said.Same(t, "check: go.mod is not tidy", m.Check(t.Context(), p), dir, "DIR")
}

// TestErrorsAreAllTold fails for an error that no test of the package provokes.
func TestErrorsAreAllTold(t *testing.T) { said.Complete(t) }
