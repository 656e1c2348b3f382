package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/cmd/internal/failure"
)

// A folder that cannot be read is named and passed over, unless a generated
// file belongs in it; a generated file that cannot be read is named.
func TestGenPassesOverWhatItMayNotRead(t *testing.T) {
	module := filepath.Join(t.TempDir(), "module")
	const yaml = "state: st\nowners:\n  one: {home: HOME, fields: {f: {type: int}}}\n"
	lay := func(name, text string) {
		t.Helper()
		name = filepath.Join(module, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	lay("go.mod", "module example.com/m\n\ngo 1.26\n")
	lay("st/owners.yaml", strings.Replace(yaml, "HOME", "cmd/one", 1))
	lay("secret/file", "")
	lay("shut/file", "")
	program := commandFor(t, filepath.Join(module, "st"))
	uid, gid := boundUser()
	for _, name := range []string{".", "st"} { // the bound user's
		if err := os.Chown(filepath.Join(module, name), uid, gid); err != nil {
			t.Fatal(err)
		}
	}
	openUp(t, filepath.Join(module, "secret"))
	openUp(t, filepath.Join(module, "shut"))
	for _, name := range []string{"secret", "shut"} { // the bound user's no more
		if err := os.Chmod(filepath.Join(module, name), 0); err != nil {
			t.Fatal(err)
		}
	}
	run := func(status int, stderr string, args ...string) {
		t.Helper()
		got := asNobody(t, program, append(args, filepath.Join(module, "st"))...)
		if got.Status != status || !strings.Contains(got.Stderr, stderr) {
			t.Errorf("%v: status %d, want %d, and\n%s\nwant %q in it", args, got.Status, status, got.Stderr, stderr)
		}
	}
	run(failure.ExitDone, "freehold: hint: the folder secret cannot be read: ", "gen")
	run(failure.ExitDone, "freehold: hint: the folder shut cannot be read: ", "gen", "--check")

	view := filepath.Join(module, "st/freehold.go")
	if err := os.Chmod(view, 0); err != nil {
		t.Fatal(err)
	}
	run(failure.ExitIO, "st/freehold.go: permission denied", "gen", "--check")
	if err := os.Chmod(view, 0o644); err != nil {
		t.Fatal(err)
	}
	lay("st/owners.yaml", strings.Replace(yaml, "HOME", "shut/one", 1))
	run(failure.ExitIO, "shut/one/internal/onefile/onefile.go: permission denied", "gen")
}
