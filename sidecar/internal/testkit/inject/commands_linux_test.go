//go:build amd64 || arm64

package inject_test

import (
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/freehold-dev/freehold/sidecar/internal/testkit/inject"
	"github.com/google/go-cmp/cmp"
)

// freehold runs the program in the module dir, where it finds no go command: the
// calls of that would be counted too.
func freehold(program, dir string, args ...string) (string, error) {
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env = dir, withoutGo(program)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// withoutGo is an environment whose PATH has a shell, for scratch.Guard, and not go.
func withoutGo(program string) []string {
	return append(os.Environ(), "PATH="+filepath.Dir(program))
}

// contents maps each file below dir to its text, and each directory to "".
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			all[name] = ""
			return err
		}
		text, err := os.ReadFile(filepath.Join(dir, name))
		all[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A command that works on a module, killed or failed at any call in it, leaves each
// file whole, old or new, and after a failure nothing else; the same command, or
// `gen` where the declaration has the change, does the rest, and collects what a
// killed one left.
func TestCommandsOnAModuleAtEveryCall(t *testing.T) {
	t.Parallel()
	if err := inject.Available(); err != nil {
		t.Skip(err)
	}
	program := filepath.Join(t.TempDir(), "freehold")
	if out, err := exec.Command("go", "build", "-ldflags=-w", "-o", program, "github.com/freehold-dev/freehold/cmd/freehold").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := os.Symlink("/bin/sh", filepath.Join(filepath.Dir(program), "sh")); err != nil {
		t.Fatal(err)
	}
	module := t.TempDir()
	if err := os.WriteFile(filepath.Join(module, "go.mod"), []byte("module example.com/m\n\ngo 1.26\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"init", "owners/shop"},
		{"gen", "owners/shop/owners.yaml"},
		{"field", "add", "worker", "extra", "int", "--owners", "owners/shop"},
	} {
		before := t.TempDir()
		if err := os.CopyFS(before, os.DirFS(module)); err != nil {
			t.Fatal(err)
		}
		if out, err := freehold(program, module, args...); err != nil {
			t.Fatalf("%q: %v: %s", args, err, out)
		}
		c := moduleCommand{program, before, args, contents(t, before), contents(t, module)}
		t.Run(args[0]+" killed", func(t *testing.T) { c.atEveryCall(t, inject.Plan{Action: inject.KillBefore}) })
		t.Run(args[0]+" full", func(t *testing.T) { c.atEveryCall(t, inject.Plan{Action: inject.Fail, Errno: syscall.ENOSPC}) })
		if inject.Thorough() {
			t.Run(args[0]+" broken", func(t *testing.T) { c.atEveryCall(t, inject.Plan{Action: inject.Fail, Errno: syscall.EIO}) })
		}
	}
}

// A moduleCommand turns the files old of a module into new.
type moduleCommand struct {
	program, before string
	args            []string
	old, new        map[string]string
}

// someFiles stand for the others without FREEHOLD_EVERY_CALL: of each command the
// files that it writes in its own way, and one of those that are all written alike.
var someFiles = map[string]*regexp.Regexp{
	"init":  regexp.MustCompile(`(owners\.yaml|generate\.go)[^/]*$`),
	"gen":   regexp.MustCompile(`workerfile\.go[^/]*$`),
	"field": regexp.MustCompile(`(owners\.yaml|OWNERS\.md)[^/]*$`),
}

func (c moduleCommand) atEveryCall(t *testing.T, plan inject.Plan) {
	var dir string
	plan.Calls = []string{"openat", "mkdirat", "renameat", "renameat2", "linkat", "unlinkat"}
	if plan.Action == inject.Fail {
		plan.Calls = append(plan.Calls, "write", "fsync", "flock", "fchown", "fchmod")
	}
	plan.Only = func(call inject.Call) bool {
		if call.Name == "openat" && call.Args[2]&syscall.O_CREAT == 0 {
			return false
		}
		return slices.ContainsFunc(call.Paths, func(path string) bool {
			return strings.HasPrefix(path, dir) && (inject.Thorough() || call.Name == "mkdirat" || someFiles[c.args[0]].MatchString(path))
		})
	}
	for _, r := range inject.EveryCall(t, func(int) (inject.Command, inject.Plan) {
		dir = t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(c.before)); err != nil {
			t.Fatal(err)
		}
		return inject.Command{Path: c.program, Args: c.args, Dir: dir, Env: withoutGo(c.program)}, plan
	}) {
		left := contents(t, dir)
		for name, text := range left {
			old, was := c.old[name]
			whole := was && text == old || text == c.new[name] && mapHas(c.new, name)
			if draft := r.Killed && strings.HasPrefix(filepath.Base(name), ".") && name != "."; !whole && !draft {
				t.Errorf("%v: it left %s: %q", r, name, text)
			}
		}
		for name := range c.old {
			if !mapHas(left, name) {
				t.Errorf("%v: %s is gone", r, name)
			}
		}
		if r.State.Success() && !maps.Equal(left, c.new) {
			t.Errorf("%v: it said that all was well; (-want +got):\n%s", r, cmp.Diff(c.new, left))
		}
		c.again(t, r, dir, left)
		if t.Failed() {
			t.Fatalf("stderr: %s", r.Stderr)
		}
	}
}

// again runs the command once more: it does the rest.
func (c moduleCommand) again(t *testing.T, r inject.Result, dir string, left map[string]string) {
	const declaration = "owners/shop/owners.yaml"
	declared := left[declaration] == c.new[declaration] && c.args[0] != "gen"
	out, err := freehold(c.program, dir, c.args...)
	if (err != nil) != declared {
		t.Errorf("%v: the next one: %v: %s", r, err, out)
	}
	if declared && c.args[0] == "field" {
		if out, err := freehold(c.program, dir, "gen", declaration); err != nil {
			t.Errorf("%v: the next gen: %v: %s", r, err, out)
		}
	}
	if diff := cmp.Diff(c.new, contents(t, dir)); diff != "" {
		t.Errorf("%v: after the next one (-want +got):\n%s", r, diff)
	}
}

func mapHas(m map[string]string, name string) bool { _, ok := m[name]; return ok }
