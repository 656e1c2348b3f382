package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/reader/statetest"
	"golang.org/x/sys/unix"
)

// Case 99: a quarantined file that cannot be read, by a user that
// permissions bind, stops no quarantine of the same file, nor is it removed.
func TestUnreadableCopiesStopNoQuarantine(t *testing.T) {
	dir := freshState(t)
	statetest.Damaged(dir, "directory-unsafe", "sidecar-invalid")
	program := commandFor(t, dir)
	uid, gid := boundUser()
	sidecarPath, kept := filepath.Join(dir, "reset.json"), filepath.Join(dir, ".freehold", "quarantine")
	spoilAs := func(text string) {
		t.Helper()
		if err := errors.Join(os.WriteFile(sidecarPath, []byte(text), 0o600), os.Lchown(sidecarPath, uid, gid)); err != nil {
			t.Fatal(err)
		}
	}
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(path, uid, gid))
	})
	if err != nil {
		t.Fatal(err)
	}
	spoilAs("broken one")
	if got := asNobody(t, program, "quarantine", "reset", "--dir", dir); got.Status != failure.ExitDone {
		t.Fatal(got)
	}
	first, err := filepath.Glob(filepath.Join(kept, "reset.json.000001.*"))
	if err != nil || len(first) != 1 {
		t.Fatalf("kept: %v (%v)", first, err)
	}
	another := strings.Replace(first[0], "000001", "000002", 1)
	folder := strings.Replace(first[0], "000001", "000003", 1)
	if err := errors.Join(os.Chmod(first[0], 0), os.WriteFile(another, []byte("root's"), 0), unix.Mkdir(folder, 0)); err != nil {
		t.Fatal(err)
	}
	for n, text := range []string{"broken two", "broken three", "broken one"} {
		spoilAs(text)
		got := asNobody(t, program, "quarantine", "reset", "--dir", dir)
		if got.Status != failure.ExitDone || got.Stderr != "" {
			t.Fatalf("number %d: %+v", n, got)
		}
		path := strings.TrimSpace(got.Stdout[strings.Index(got.Stdout, kept):])
		if raw, err := os.ReadFile(path); err != nil || string(raw) != text {
			t.Errorf("number %d: %s holds %q (%v)", n, path, raw, err)
		}
	}
	if _, err := os.Lstat(folder); err != nil {
		t.Error(err)
	}
}
