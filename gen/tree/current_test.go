package tree_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestGeneratedCodeIsCurrent is the drift test of this module's own states.
func TestGeneratedCodeIsCurrent(t *testing.T) {
	m := find(t, ".")
	states, err := m.States()
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, file := range states {
		if !strings.HasPrefix(file, "owners/") {
			continue
		}
		found++
		if _, p := plan(t, m.Dir, filepath.FromSlash(file)); !p.Current() {
			t.Errorf("the files generated from %s are not current; run\n\n\tgo run ./cmd/freehold gen %s\n\n%s%s", file, file, p.Summary(), p.Diff())
		}
	}
	if found == 0 {
		t.Error("no owners.yaml below owners")
	}
}
