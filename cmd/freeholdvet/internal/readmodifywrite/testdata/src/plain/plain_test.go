package plain

import (
	"os"
	"testing"
)

// A test's file is its own.
func TestFlip(t *testing.T) {
	path := t.TempDir() + "/x"
	text, _ := os.ReadFile(path)
	text[0] ^= 1
	os.WriteFile(path, text, 0o600)
}
