package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/gen/tree"
	"github.com/freehold-dev/freehold/schema/declare"
	"github.com/freehold-dev/freehold/sidecar/scratch"
	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/mod/modfile"
)

func init() { scratch.Guard() }

// The scripts run the program as a user does, in a module of the user's with
// real generated code: the checks' own tests have stand-ins for the library.
// Beside the commands of testscript they have
//
//	generate FILE            generate from an owners.yaml of the module
//	exits STATUS COMMAND...  run a command, which must end with this status
//	says FILE                the last command's stderr had the lines of the file,
//	                         in any order: go vet keeps none
//
// and $FREEHOLDVET is the program.
func TestScripts(t *testing.T) {
	checkout, err := tree.Find(".")
	if err != nil {
		t.Fatal(err)
	}
	goEnv := goEnvironment(t)
	program := filepath.Join(t.TempDir(), "freeholdvet")
	if out, err := exec.Command("go", "build", "-ldflags=-w", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	testscript.Run(t, testscript.Params{
		Dir:                "testdata/script",
		RequireUniqueNames: true,
		Setup: func(env *testscript.Env) error {
			env.Vars = append(env.Vars, goEnv...)
			env.Setenv("FREEHOLDVET", program)
			return requireFreehold(env.WorkDir, checkout)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"generate": generate,
			"exits":    exits,
			"says":     says,
		},
	})
}

// goEnvironment lets the go command work without the network, on the caches of
// this machine, which building this test has filled.
func goEnvironment(t *testing.T) []string {
	out, err := exec.Command("go", "env", "GOMODCACHE", "GOCACHE").Output()
	if err != nil {
		t.Fatalf("the go command is needed: %v", err)
	}
	lines := strings.Split(string(out), "\n")
	return []string{
		"GOMODCACHE=" + lines[0], "GOCACHE=" + lines[1],
		"GOPROXY=off", "GOSUMDB=off", "GOTOOLCHAIN=local", "GOFLAGS=", "GOWORK=off", "GOENV=off",
	}
}

// requireFreehold makes dir a module that uses this checkout: the same
// requirements, and a replace directive.
func requireFreehold(dir string, checkout *tree.Module) error {
	text, err := os.ReadFile(filepath.Join(checkout.Dir, "go.mod"))
	if err != nil {
		return err
	}
	file, err := modfile.Parse("go.mod", text, nil)
	if err != nil {
		return err
	}
	for _, edit := range []func() error{
		func() error { return file.AddModuleStmt("example.com/shop") },
		func() error { return file.AddRequire(checkout.Path, "v0.0.0") },
		func() error { return file.AddReplace(checkout.Path, "", checkout.Dir, "") },
	} {
		if err := edit(); err != nil {
			return err
		}
	}
	if text, err = file.Format(); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), text, 0o666); err != nil {
		return err
	}
	sums, err := os.ReadFile(filepath.Join(checkout.Dir, "go.sum"))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "go.sum"), sums, 0o666)
}

func generate(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: generate FILE")
	}
	file := ts.MkAbs(args[0])
	module, err := tree.Find(filepath.Dir(file))
	ts.Check(err)
	src, err := module.Load(file)
	ts.Check(err)
	plans, err := module.Plans([]*declare.Source{src})
	ts.Check(err)
	ts.Check(module.Apply(plans[0]))
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS COMMAND...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if exit, ok := err.(*exec.ExitError); ok {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

func says(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: says FILE")
	}
	sorted := func(file string) string {
		return strings.Join(slices.Sorted(strings.Lines(ts.ReadFile(file))), "")
	}
	if diff := cmp.Diff(sorted(args[0]), sorted("stderr")); diff != "" {
		ts.Fatalf("(-want +got)\n%s", diff)
	}
}
