package main

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/reader/statetest"
	"github.com/freehold-dev/freehold/sidecar/scratch"
	"github.com/rogpeppe/go-internal/testscript"
)

// The scripts are named <subcommand>_<case>. Beside the commands of testscript
// they have
//
//	exits STATUS COMMAND...   run a command, which must end with this status
//	capture NAME REGEXP       set $NAME to the first group in the last stdout
//	silent                    the last command wrote nothing to stderr
//	awaits FILE REGEXP        wait until FILE, which a command in the background writes, matches
//	damaged STATE CODE...     the script leaves the state with these findings of doctor on purpose
//
// When a script ends, its states are looked over.
//
// and $OWNERS is the declaration of most states.
func TestScripts(t *testing.T) { runScripts(t, nil) }

// The same scripts hold for fh: every command that it has too is carried out by it.
// The program that hooks install is under test: static, and built for itself.
func TestScriptsWithFh(t *testing.T) {
	fh := buildFh(t)
	files, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	calls := regexp.MustCompile(`(?m)\bfreehold (` + strings.Join(fhCommands(), "|") + `)\b`)
	var chosen []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		// owners.yaml is unknown to fh.
		if calls.Match(text) && !strings.Contains(string(text), "declares that, and the state does not yet") {
			chosen = append(chosen, file)
		}
	}
	runScripts(t, chosen, fhVariable+"="+fh)
}

// fhVariable names the program that carries out its commands in the place of this one.
const fhVariable = "FREEHOLD_TEST_FH"

// buildFh builds fh as a release does.
func buildFh(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "fh")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", path, "../fh")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// runScripts runs the scripts of files, or all, with more in their environment.
func runScripts(t *testing.T, files []string, more ...string) {
	owners, err := os.ReadFile("testdata/state.yaml")
	if err != nil {
		t.Fatal(err)
	}
	checkout, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	goEnv := append(goEnvironment(t), more...)
	dir := "testdata/script"
	if files != nil {
		dir = ""
	}
	testscript.Run(t, testscript.Params{
		Dir:                dir,
		Files:              files,
		RequireUniqueNames: true,
		Setup: func(env *testscript.Env) error {
			env.Vars = append(env.Vars, goEnv...)
			env.Setenv("OWNERS", filepath.Join(env.WorkDir, "runtime.yaml"))
			env.Setenv("CHECKOUT", checkout)
			env.Setenv("GORACE", quickExit)
			env.Setenv(scratch.Run, os.Getenv(scratch.Run))
			env.Defer(func() { lookOver(t, env.WorkDir) })
			return os.WriteFile(env.Getenv("OWNERS"), owners, 0o666)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":   exits,
			"capture": capture,
			"silent":  silent,
			"awaits":  awaits,
			"damaged": damaged,
		},
	})
}

// goEnvironment returns the variables with which the go command of a script works without
// the network: the caches of this machine, which building this test has filled.
func goEnvironment(t *testing.T) []string {
	out, err := exec.Command("go", "env", "GOMODCACHE", "GOCACHE", "GOPROXY", "GOSUMDB").Output()
	if err != nil {
		t.Skipf("the go command is needed: %v", err)
	}
	lines := strings.Split(string(out), "\n")
	return []string{
		"GOMODCACHE=" + lines[0], "GOCACHE=" + lines[1],
		// For go mod tidy, which wants the modules of other modules' tests, too.
		"USERPROXY=" + lines[2], "USERSUMDB=" + lines[3],
		"GOPROXY=off", "GOSUMDB=off", "GOTOOLCHAIN=local", "GOFLAGS=", "GOWORK=off", "GOENV=off",
	}
}

// lookOver looks over every state that a script has left in dir.
func lookOver(t *testing.T, dir string) {
	filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil // some scripts take a directory away from everybody
		}
		if e.Name() == ".freehold" && e.IsDir() {
			statetest.CheckUp(t, filepath.Dir(path))
			return fs.SkipDir
		}
		return nil
	})
}

func damaged(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: damaged STATE CODE...")
	}
	statetest.Damaged(ts.MkAbs(args[0]), args[1:]...)
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS COMMAND...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

func capture(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: capture NAME REGEXP")
	}
	re, err := regexp.Compile(args[1])
	ts.Check(err)
	match := re.FindStringSubmatch(ts.ReadFile("stdout"))
	if len(match) != 2 {
		ts.Fatalf("stdout does not match %s", args[1])
	}
	ts.Setenv(args[0], match[1])
}

func awaits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: awaits FILE REGEXP")
	}
	re, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	for start := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		text, err := os.ReadFile(ts.MkAbs(args[0]))
		if err == nil && re.Match(text) {
			return
		}
		if time.Since(start) > time.Minute {
			ts.Fatalf("%s does not match %s: %v\n%s", args[0], args[1], err, text)
		}
	}
}

func silent(ts *testscript.TestScript, neg bool, args []string) {
	if text := ts.ReadFile("stderr"); text != "" {
		ts.Fatalf("stderr is not empty: %s", text)
	}
}
