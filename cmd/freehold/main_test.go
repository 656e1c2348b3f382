package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/freehold-dev/freehold/sidecar/scratch"
	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "write the golden files anew")

// quickExit keeps the race detector from sleeping a second at the end of every
// process.
const quickExit = "atexit_sleep_ms=0"

// TestMain lets the test binary be the program, for scripts and for tests that
// need processes.
func TestMain(m *testing.M) {
	os.Setenv("GORACE", quickExit)
	if filepath.Base(os.Args[0]) != "freehold" {
		scratch.Guard()
	}
	testscript.Main(m, map[string]func(){"freehold": mainOrFh})
}

// mainOrFh is main, but for the commands that a test wants fh to carry out. The
// process stays the same.
func mainOrFh() {
	words := slices.DeleteFunc(slices.Clone(os.Args[1:]), func(arg string) bool { return strings.HasPrefix(arg, "-") })
	if fh := os.Getenv(fhVariable); fh != "" && len(words) > 0 && slices.Contains(fhCommands(), words[0]) {
		if words[0] != "view" || slices.Contains(os.Args, "--json") {
			fmt.Fprintln(os.Stderr, syscall.Exec(fh, append([]string{"fh"}, os.Args[1:]...), os.Environ()))
			os.Exit(1)
		}
	}
	main()
}

// A result is the outcome of one call of the program.
type result struct {
	Status         int
	Stdout, Stderr string
}

// call runs a command line in this process.
func call(t *testing.T, stdin string, args ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	status := run(context.Background(), args, strings.NewReader(stdin), &stdout, &stderr)
	return result{status, stdout.String(), stderr.String()}
}

// golden compares got with the file name in testdata, or writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", filepath.FromSlash(name))
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v: run go test ./cmd/freehold -update", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

// A panic must not exit 2: both programs begin with console.Main, and that with the
// traceback that crashes.
func TestMainBeginsWithACrashingTraceback(t *testing.T) {
	for file, begins := range map[string][2]string{
		"main.go":                        {"main", "console.Main(run)"},
		"../fh/main.go":                  {"main", "console.Main(run)"},
		"../internal/console/console.go": {"Main", `debug.SetTraceback("crash")`},
	} {
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		var first bytes.Buffer
		for _, decl := range f.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Name.Name == begins[0] && fn.Recv == nil {
				if err := printer.Fprint(&first, fset, fn.Body.List[0]); err != nil {
					t.Fatal(err)
				}
			}
		}
		if first.String() != begins[1] {
			t.Errorf("%s: %s begins with %q, want %s", file, begins[0], &first, begins[1])
		}
	}
}
