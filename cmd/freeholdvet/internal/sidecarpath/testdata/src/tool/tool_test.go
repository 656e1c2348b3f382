package tool

import (
	"os"
	"path/filepath"
	"testing"
)

// A test damages its own files on purpose.
func TestDamage(t *testing.T) {
	os.WriteFile(filepath.Join(t.TempDir(), "cost.json"), nil, 0o600)
}
