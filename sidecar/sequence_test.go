//go:build linux

package sidecar

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/sidecar/internal/testkit/inject"
	"github.com/google/go-cmp/cmp"
)

// A commit's order is its promise: it locks a file that is never replaced,
// reads only then, syncs the file before the rename and the directory after
// it, and stages nowhere else (C-14, C-132).
func TestCommitKeepsItsOrder(t *testing.T) {
	if err := inject.Available(); err != nil {
		t.Skipf("system calls cannot be watched: %v", err)
	}
	dir := filepath.Join(t.TempDir(), "state")
	starts[2].make(t, dir)
	env := append(os.Environ(), roleVar+"=commit", "TMPDIR=/dev/shm")
	r, err := inject.Run(t.Context(), inject.Command{Path: os.Args[0], Args: []string{dir}, Env: env}, inject.Plan{Marked: true})
	if err != nil || string(r.Stdout) != "applied" {
		t.Fatalf("%v; stdout %q, stderr %q", err, r.Stdout, r.Stderr)
	}
	var order []string
	for _, call := range r.Calls {
		if step := stepOf(call, dir); step != "" && (len(order) == 0 || order[len(order)-1] != step) {
			order = append(order, step)
		}
		for _, path := range call.Paths {
			if looks := call.Name == "newfstatat" || call.Name == "readlinkat"; looks {
				continue // at the directories above
			}
			if !strings.HasPrefix(path, dir) && !strings.HasPrefix(path, "/proc/") && filepath.IsAbs(path) {
				t.Errorf("%v touches a file outside the state directory", call)
			}
		}
	}
	want := []string{"lock", "read", "write", "fsync file", "rename", "fsync directory", "unlock"}
	if diff := cmp.Diff(want, order); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

// stepOf names the calls that matter for the order.
func stepOf(call inject.Call, dir string) string {
	const lockUnlock = 8 // LOCK_UN
	path := ""
	if len(call.Paths) > 0 {
		path = call.Paths[0]
	}
	switch name := filepath.Base(path); {
	case call.Name == "flock" && name != "cost.lock" && call.Args[1] != lockUnlock:
		return "lock of " + name
	case call.Name == "flock" && name != "cost.lock": // closing lets go what was never taken
		return ""
	case call.Name == "flock" && call.Args[1] == lockUnlock:
		return "unlock"
	case call.Name == "flock":
		return "lock"
	case call.Name == "openat2" && name == "cost.json":
		return "read"
	case call.Name == "write":
		return "write"
	case call.Name == "fsync" && path == dir:
		return "fsync directory"
	case call.Name == "fsync":
		return "fsync file"
	case strings.HasPrefix(call.Name, "rename"):
		return "rename"
	}
	return ""
}
