package usage_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/owners/usage/usagetest"
	"golang.org/x/sys/unix"
)

// A plan may come through a pipe. Nobody waits for one into which nobody writes.
func TestAPlanMayBeAPipe(t *testing.T) {
	p := newPrograms(t, usagetest.State(t))
	pipe := filepath.Join(t.TempDir(), "plan")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, errs, status := p.run(t, "", "curate", "-plan", pipe); status != 1 || !strings.Contains(errs, "is not a plan") {
		t.Errorf("with a pipe into which nobody writes: status %d, %s", status, errs)
	}
	if _, errs, status := p.run(t, p.does(t, "curate", "-dry-run"), "curate", "-plan", "/dev/stdin"); status != 0 || errs != "" {
		t.Errorf("with a plan through a pipe: status %d, %s", status, errs)
	}
}
