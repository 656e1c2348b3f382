package ownersfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A file that an editor saves while a command works on its old text keeps the
// saved text.
func TestEditLosesNothingThatSomebodySaved(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "owners.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	write("old\n")
	if err := replaceFile(file, []byte("old\n"), []byte("new\n")); err != nil {
		t.Errorf("the control: %v", err)
	}
	write("saved\n")
	err := replaceFile(file, []byte("new\n"), []byte("newer\n"))
	if err == nil || !strings.HasSuffix(err.Error(), "owners.yaml was changed meanwhile: it stays as it is now") {
		t.Errorf("got %v", err)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "saved\n" {
		t.Errorf("the file says %q, %v", text, err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}
