package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/cmd/internal/failure"
)

// An unreadable lock file cannot be waited for: every write of its owner is refused
// at once and changes nothing, under either rule for a busy owner. Reading and the
// other owners go on, and a repair mends the lock.
func TestAnUnreadableLockIsRefusedAtOnce(t *testing.T) {
	dir := usageState(t)
	must(t, "put", "tool", "skills", "deploy", "use_count=1", "--dir", dir)
	program := commandFor(t, dir)
	uid, gid := boundUser()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, uid, gid)
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, lock := range []string{"tool.lock", "creator.lock"} {
		if err := os.Chmod(filepath.Join(dir, ".freehold", lock), 0); err != nil {
			t.Fatal(err)
		}
	}
	before := listing(t, dir)
	for _, args := range [][]string{
		{"put", "tool", "skills", "deploy", "use_count=1"}, // would be deferred if it were busy
		{"insert", "creator", "skills", "another"},         // would fail
		{"fold", "tool"}, {"accept", "creator"}, {"quarantine", "tool"},
	} {
		got := asNobody(t, program, append(args, "--wait", "1h", "--dir", dir)...)
		if got.Status != failure.ExitState || got.Stdout != "" || !strings.Contains(got.Stderr, args[1]+".lock: missing or replaced") || !strings.Contains(got.Stderr, "permission denied") || !strings.Contains(got.Stderr, "run `chmod u+rw ") {
			t.Errorf("%q: %+v", args, got)
		}
	}
	if after := listing(t, dir); strings.Join(after, "\n") != strings.Join(before, "\n") {
		t.Errorf("before:\n%s\nafter:\n%s", strings.Join(before, "\n"), strings.Join(after, "\n"))
	}
	if got := asNobody(t, program, "get", "skills", "deploy", "use_count", "--dir", dir); got != (result{failure.ExitDone, "1\n", ""}) {
		t.Errorf("get: %+v", got)
	}
	if got := asNobody(t, program, "put", "user", "skills", "deploy", "pinned=true", "--dir", dir); got.Status != failure.ExitDone {
		t.Errorf("another owner: %+v", got)
	}
	if got := asNobody(t, program, "state", "repair", "--dir", dir); got.Status != failure.ExitDone {
		t.Errorf("repair: %+v", got)
	}
	if got := asNobody(t, program, "put", "tool", "skills", "deploy", "use_count=1", "--dir", dir); got.Status != failure.ExitDone {
		t.Errorf("after the repair: %+v", got)
	}
}
