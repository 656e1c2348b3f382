package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/cmd/internal/console"
	"github.com/freehold-dev/freehold/cmd/internal/display"
	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/cmd/internal/verbs"
	"github.com/freehold-dev/freehold/reader/statetest"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/schema/declare"
	"github.com/freehold-dev/freehold/schema/errorstest"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/adopt"
)

const script = "is told by a script, with the processes that it takes: "

const compared = "TestFhRefusesWhatFreeholdRefuses compares the two programs"

var said = errorstest.Golden{
	Update: update,
	Prose:  []string{"Line", "row"}, // of a report
	// Of package failure, for all packages of commands.
	Formats: map[string]int{"Usage": 0},
	Folders: []string{"../fh", "../internal/console", "../internal/failure", "../internal/lease", "../internal/selection", "../internal/verbs", "internal/cli", "internal/leases", "internal/ownersfile", "internal/revision", "internal/screen", "internal/upkeep"},
	Untold: map[string]string{
		"%d more instances were refused":                                                                script + "instances_many",
		"--as is for the schema of the view: leave out %s":                                              script + "schema_print",
		"--patch is for the patches of one owner: name the owner":                                       script + "schema_print",
		"%s: no owner declares any of its keys: nothing was imported":                                   script + "adopt_nothing",
		"name the former declaration with --against REF":                                                script + "breaking_git",
		"--format %s: the formats are text and github":                                                  script + "breaking_git",
		"--json and --format github exclude each other":                                                 script + "breaking_git",
		"cannot compare: %s declares no state %s":                                                       script + "breaking_git",
		"cannot compare: git is not installed":                                                          script + "breaking_git",
		"cannot compare: git %s: %s":                                                                    script + "breaking_git",
		"cannot compare: %s is no branch, tag or commit here, and no file or directory":                 script + "breaking_git",
		"cannot compare: the repository in %s has no commit yet":                                        script + "breaking_git",
		"cannot compare: HEAD and %s have no commit in common":                                          script + "breaking_git",
		"cannot compare: %s:%s is a symbolic link out of the commit, or no file":                        script + "breaking_git",
		"--against is empty: name a branch, a tag, a commit, a directory or a file":                     script + "breaking_git",
		"--against %s begins with -, as a flag does: name a branch, a tag, a commit, or a path with ./": script + "breaking_git",
		"%s is a path and a revision: write ./%s or refs/heads/%s":                                      script + "breaking_git",
		"cannot compare: %s:%s is a submodule, and %s is in it: run this there":                         script + "breaking_git",
		"cannot compare: the directory %s has no %s":                                                    script + "breaking_git",
		"cannot compare: %w": "wants a file that goes between two system calls",
		"cannot compare: %s has a file %q, with a line end in its path": "no Go package is in such a folder",
		"%s: Git names no work tree":                                    "wants a Git that answers in another way",
		"%s is not in the module %s at %s":                              "the module is looked for from the file upward: only a link that changes meanwhile leads elsewhere",
		"misused":                                                       "decides the exit status and is never printed",
		"%s was changed meanwhile: it stays as it is now":               "wants an editor that saves between two system calls",
		"%w: some files may be new and some old":                        "wants a disk that fails between two files",
		"read the input of the hook: %w: nothing was changed; let the host close the standard input": "wants a host that never ends its input",
		"the input of the hook is longer than the %d bytes allowed: let the host write less":         "wants 16 MiB of input",
		"the input of the hook: %s: let the host write a JSON object":                                script + "hook_once",
		"the input of the hook has no %q: name a part that it has":                                   script + "hook_once",
		"the hook writes as no owner: add --owner OWNER":                                             script + "hook_once",
		"--format %.40q: the formats are env, json and raw: choose one":                              script + "hook_once",
		"field %s has a NUL, which no variable of a shell can have: take --format json":              "wants a value with a NUL, which no operand has",
		"owner %s: deferred patch %s: views show it, and the next commit folds it":                   "is a note",
		"field %s: name a KEY and a MEMBER at most, or other fields":                                 script + "put_value",
		"fh has no command %q":                       compared,
		"fh prints a view as JSON alone: add --json": compared,
		"unknown shorthand flag: %q in %s":           compared,
		"bad flag syntax: %s":                        compared,
		"flag needs an argument: --%s":               compared,
		"invalid argument %q for %q flag: %w":        compared,
		"the lease is free, and its record could not say so: %w; the next holder writes it anew: nothing to do": "wants a disk that fails when a process ends",
		"%s out a writer that belongs to its owner's programs: give other packages verbs of the home instead":   script + "gen_leak",
		"%s: the instances %q and %q are declared in different ways: %w":                                        script + "instances_choose",
		"%w: each declares something that the other does not":                                                   script + "instances_choose",
		"%s may have another value: owner %s has %s, not all of which can be shown: %w":                         script + "explain_unshown",
	},
	Unhelped: map[string]string{
		"in a module: freehold gen owners/odd": "sums up lines that each end with what to do",
		"freehold adopt misfit.json":           "sums up lines that each end with what to do",
	},
}

// An utterance is a command line that fails, and its standard input.
type utterance struct{ line, stdin string }

// told runs command lines that must fail and compares their standard
// error. The environment names the state: a flag would stand in the commands that
// messages name.
func told(t *testing.T, where, dir string, all ...utterance) {
	t.Helper()
	defer os.Setenv(console.DirVariable, os.Getenv(console.DirVariable))
	os.Setenv(console.DirVariable, dir)
	for _, u := range all {
		got := call(t, u.stdin, strings.Fields(u.line)...)
		tell(t, where+u.line, dir, u.stdin, got)
	}
}

func tell(t *testing.T, line, dir, stdin string, got result) {
	t.Helper()
	if got.Status == failure.ExitDone {
		t.Errorf("%s: no error", line)
		return
	}
	how := "freehold " + display.Escape(line)
	if stdin != "" {
		how += fmt.Sprintf(" <<<%.60q", stdin)
	}
	said.Same(t, how, errors.New(strings.TrimSpace(got.Stderr)), dir, "STATE", filepath.Dir(dir), "DIR")
}

// TestErrorsSayWhatToDo provokes the errors of commands on a state.
func TestErrorsSayWhatToDo(t *testing.T) {
	dir := freshState(t)
	statetest.Damaged(dir, "manifest-invalid")
	t.Chdir(filepath.Dir(dir))
	told(t, "", dir,
		utterance{"set reset f", ""},
		utterance{"set reset f=1 f=2", ""},
		utterance{"set reset f =1", ""},
		utterance{"set f=1 name=x", ""},
		utterance{"set reset =1", ""},
		utterance{"adopt -", "{}"},
		utterance{"adopt - --dry-run", strings.Repeat(" ", adopt.MaxSize+1)},
		utterance{"doctor --legacy=", ""},
		utterance{"set reset f=x\x1b[2J", ""},
		utterance{"set reset n=1", ""},
		utterance{"set reset nothing=1", ""},
		utterance{"set nobody f=1", ""},
		utterance{"set cost n=1", ""},
		utterance{"set reset f=1 --if-version 1.\x1b", ""},
		utterance{"set reset f=1 --if-version 1.1.0000000000000", ""},
		utterance{"set reset f=1 --wait -1s", ""},
		utterance{"insert reset f a", ""},
		utterance{"clear cost x y", ""},
		utterance{"claim reset f --for x", ""},
		utterance{"set reset f=1 --program " + strings.Repeat("x", 65), ""},
		utterance{"lease watchdog --program \xff -- true", ""},
		utterance{"get nothing", ""},
		utterance{"watch nothing", ""},
		utterance{"watch --owner nobody", ""},
		utterance{"watch n --owner reset", ""},
		utterance{"get f key", ""},
		utterance{"get f --default x", ""},
		utterance{"accept reset", ""},
		utterance{"quarantine reset", ""},
		utterance{"schema nobody", ""},
		utterance{"view more", ""},
		utterance{"apply reset", "null"},
		utterance{"apply reset", `[{"field":"f\u001b"`},
		utterance{"apply reset", `[{"feild":"f"}]`},
		utterance{"apply reset", strings.Repeat("[", 65)},
		utterance{"apply reset", `[{"field":"f"}]`},
		utterance{"apply reset", `[{"field":"f","op":"set"}]`},
		utterance{"apply reset", `[{"field":"n","op":"set","value":1}]`},
		utterance{"apply reset", `[{"field":"f","op":"clear","value":1}]`},
		utterance{"apply reset", `[{"field":"f","op":"claim"}]`},
		utterance{"apply reset", `[{"field":"f","op":"set","key":"k","value":1}]`},
		utterance{"apply reset", strings.Repeat(" ", verbs.MaxPatch+1)},
		utterance{"retire watchdog --epoch 0 --pid 1", ""},
		utterance{"adopt absent.json --state runtime", ""},
		utterance{"set reset f=1 --seen token", ""},
	)
	for line, stdin := range map[string]string{"set": "", "state": "", "state inti": "", "lease reset --dir state -- true": "", "lease watchdog --dir state --wait -1s -- true": "", "state upgrade --wait -1s": "", "completion tcsh": "", "frobnicate": "", "veiw": "", "view --dir=": "", "adopt --infer empty.json": "{}", "adopt --infer list.json": "[]", "adopt --infer many.json": manyKeys()} {
		if stdin != "" {
			if err := os.WriteFile(strings.Fields(line)[2], []byte(stdin), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		tell(t, line, dir, "", call(t, "", strings.Fields(line)...))
	}
	tell(t, "get ''", dir, "", call(t, "", "get", ""))
	t.Setenv(console.DirVariable, "here")
	tell(t, "view with a relative "+console.DirVariable, dir, "", call(t, "", "view"))
	os.Unsetenv(console.DirVariable)
	tell(t, "state init", dir, "", call(t, "", "state", "init"))

	var stderr bytes.Buffer
	run(t.Context(), []string{"set", "--verbose", "reset", "f=1", "--dir", dir}, strings.NewReader(""), failing{}, &stderr)
	said.Same(t, "freehold set reset f=1 >/dev/full", errors.New(stderr.String()))
	stderr.Reset()
	run(t.Context(), []string{"apply", "reset", "--dir", dir}, failing{}, io.Discard, &stderr)
	said.Same(t, "freehold apply reset, with an input that fails", errors.New(stderr.String()))

	if err := os.WriteFile("misfit.json", []byte(`{"f":"x"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("other.yaml", []byte("state: runtime\nowners:\n  reset:\n    fields:\n      f: {type: string}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	told(t, "", dir, utterance{"adopt misfit.json", ""}, utterance{"adopt misfit.json --owners other.yaml", ""})
	if err := os.WriteFile(filepath.Join(dir, ".freehold/manifest.json"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("owners.yaml", declare.Template("runtime"), 0o600); err != nil {
		t.Fatal(err)
	}
	told(t, "without a manifest: ", dir, utterance{"state init", ""}, utterance{"view", ""})
}

// manyKeys returns a file with more keys than an owner may have fields, of values
// that are not alike.
func manyKeys() string {
	var text strings.Builder
	for i := range 2049 {
		fmt.Fprintf(&text, `, "k%d": %d, "s%d": "x"`, i, i, i)
	}
	return "{" + strings.TrimPrefix(text.String(), ", ") + "}"
}

// failing is an input and an output that fail.
type failing struct{}

func (failing) Read([]byte) (int, error)  { return 0, errors.New("the disk is on fire") }
func (failing) Write([]byte) (int, error) { return 0, errors.New("the disk is on fire") }

// TestErrorsSayWhatToDoOfMaps provokes the errors of commands on a state with maps.
func TestErrorsSayWhatToDoOfMaps(t *testing.T) {
	text, err := os.ReadFile("../../owners/usage/owners.yaml")
	if err != nil {
		t.Fatal(err)
	}
	source, err := declare.Parse("owners.yaml", "owners/usage", text)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "state")
	if err := sidecar.Create(dir, source.Declaration); err != nil {
		t.Fatal(err)
	}
	must(t, "insert", "creator", "skills", "deploy", "--dir", dir)
	told(t, "in a state with maps: ", dir,
		utterance{"put tool skills deploy use_count", ""},
		utterance{"put tool skills deploy =1", ""},
		utterance{"put tool skills deploy use_count=1 use_count=2", ""},
		utterance{"put tool skills deploy pinned=true", ""},
		utterance{"put tool skills deploy use_cuont=1", ""},
		utterance{"delete tool skills deploy", ""},
		utterance{"apply tool", `[{"field":"skills","op":"add","member":"use_count","value":1}]`},
		utterance{"insert tool skills more", ""},
		utterance{"get skills deploy use_cuont", ""},
		utterance{"get skills nothing", ""},
	)
}

// TestErrorsSayWhatToDoOfFreshness provokes the errors of commands that ask for
// fresh values.
func TestErrorsSayWhatToDoOfFreshness(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	err := sidecar.Create(dir, &schema.Declaration{State: "runtime", Owners: map[string]schema.Owner{
		"reset": {Fields: map[string]schema.Field{"phase": {Type: schema.TypeString}}},
		"cost":  {Fields: map[string]schema.Field{"tokens": {Type: schema.TypeUint, DependsOn: []string{"phase"}}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	must(t, "set", "cost", "tokens=5", "--dir", dir)
	told(t, "in a state where fields depend on others: ", dir,
		utterance{"get tokens --require-fresh", ""},
		utterance{"view --stale", ""},
		utterance{"view --owner nobody", ""},
		utterance{"set reset phase=x --seen x", ""},
	)
	t.Chdir(filepath.Dir(dir))
	text := "state: runtime\nowners:\n  reset:\n    fields:\n      later: {type: string}\n"
	if err := os.WriteFile("owners.yaml", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	told(t, "beside an owners.yaml that declares more: ", dir, utterance{"set reset later=x", ""})
}

// TestErrorsSayWhatToDoOfInstances provokes the errors of commands on a state
// with an instance per something.
func TestErrorsSayWhatToDoOfInstances(t *testing.T) {
	root := t.TempDir()
	t.Chdir(root)
	owners := "state: session\ninstances: {by: session_id}\nowners:\n  hook:\n    fields:\n      turn: {type: uint, doc: The turn.}\n"
	if err := os.WriteFile("owners.yaml", []byte(owners), 0o666); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(homeOfTests, "testdata/state.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("one.yaml", text, 0o666); err != nil {
		t.Fatal(err)
	}
	must(t, "state", "init", "--dir", "sessions", "--owners", "owners.yaml", "--instance", "one")
	for _, line := range []string{
		"prune --dir sessions --older-than never", "prune --dir sessions --older-than -1h", "view --dir sessions", "view --dir sessions --instance two", "view --dir sessions --instance=", "view --dir sessions/one --instance two",
		"state init --dir whole --owners one.yaml --instance one", "state init --dir sessions --owners owners.yaml --instance=",
	} {
		got := call(t, "", strings.Fields(line)...)
		if got.Status == failure.ExitDone {
			t.Errorf("%s: no error", line)
		}
		said.Same(t, "with instances: freehold "+line, errors.New(strings.TrimSpace(got.Stderr)), root, "DIR")
	}
}

// TestErrorsSayWhatToDoOfModules provokes the errors of commands on source code.
func TestErrorsSayWhatToDoOfModules(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		at := filepath.Join(root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o777), os.WriteFile(at, []byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	told := func(lines ...string) {
		t.Helper()
		for _, line := range lines {
			got := call(t, "", strings.Fields(line)...)
			if got.Status == failure.ExitDone {
				t.Errorf("%s: no error", line)
			}
			said.Same(t, "in a module: freehold "+line, errors.New(strings.TrimSpace(got.Stderr)), root, "MODULE")
		}
	}
	t.Chdir(root)
	outside := call(t, "", "state", "init", "--dir", "state")
	said.Same(t, "outside of a module: freehold state init --dir state", errors.New(strings.TrimSpace(outside.Stderr)), root, "HERE")
	write("go.mod", "module example.com/corner\n\ngo 1.26\n")
	write("prog/main.go", "package main\n")
	told("gen", "init Odd-Name", "init 9", "init prog", "gen /nowhere/owners.yaml")
	write("owners/a/owners.yaml", string(declare.Template("a")))
	told("init owners/a", "gen --check",
		"owner add more", "owner add more --field x", "owner add more --field x:int --field x:int", "owner add more --field x:enum", "field add nobody x int",
		"field add a x record", "field add a x map", "gen --owners=", "schema view --owners=")
	if err := os.Link(filepath.Join(root, "owners/a/owners.yaml"), filepath.Join(root, "twin")); err != nil {
		t.Fatal(err)
	}
	told("field add worker x int --owners owners/a/owners.yaml")
	os.Remove(filepath.Join(root, "twin"))
	call(t, "", "gen", "owners/a/owners.yaml")
	write("owners/a/gone/main.go", "package main\n\nimport _ \"example.com/corner/owners/a/gone/internal/gonefile\"\n")
	told("gen --check owners/a/owners.yaml")
	write("owners/b/owners.yaml", string(declare.Template("b")))
	told("field add a x int")
	write("owners/odd/owners.yaml", "state: Odd\u202e\n")
	told("gen owners/odd")
}

// TestErrorsAreAllTold fails for an error that no test of the package provokes.
func TestErrorsAreAllTold(t *testing.T) { said.Complete(t) }
