package compare

import (
	"bytes"
	"os"
)

func generateString(path, text string) {
	if old, _ := os.ReadFile(path); string(old) != text {
		os.WriteFile(path, []byte(text), 0o600)
	}
}

func isThere(path string) {
	if _, err := os.ReadFile(path); err != nil {
		os.WriteFile(path, nil, 0o600)
	}
}

func patches(path string, text []byte) {
	old, _ := os.ReadFile(path)
	if bytes.Equal(old, text) {
		return
	}
	os.WriteFile(path, append(old, text...), 0o600) // want `read at compare.go:21`
}

// A latch that is checked and then set lets two through.
func latch(path string) bool {
	text, _ := os.ReadFile(path)
	if bytes.Contains(text, []byte("fired")) {
		return false
	}
	os.WriteFile(path, []byte("fired"), 0o600) // want `read at compare.go:30`
	return true
}
