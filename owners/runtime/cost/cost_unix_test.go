package cost_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/freehold-dev/freehold/owners/runtime/cost"
	"github.com/freehold-dev/freehold/owners/runtime/runtimetest"
)

// A hook must not wait for somebody to write into a pipe.
func TestRecordRefusesAPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := cost.Record(t.Context(), runtimetest.State(t), pipe, "S-042", nil)
	if err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("got %v, want an error that says what it is", err)
	}
}
