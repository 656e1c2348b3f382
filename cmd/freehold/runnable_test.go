package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/reader/statetest"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/go-json-experiment/json"
)

const advisable = `state: runtime
owners:
  reset:
    fields:
      phase: {type: string}
      turns: {type: int, kind: counter}
      began: {type: time, kind: event}
  cost:
    fields:
      tokens: {type: int, depends_on: [phase]}
      skills: {kind: map, keys: true, record: {count: {type: int}}}
  tool:
    busy: {then: defer}
    fields:
      runs: {type: int, kind: counter}
`

// An advised call ends with messages that name commands.
type advised struct {
	args   []string
	before func(t *testing.T, dir string) // what is done to the state
	want   int                            // how many commands it names
	fill   []string                       // what stands for the words in capitals
}

func overwrite(name, text string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func begunWith(args ...string) func(*testing.T, string) {
	return func(t *testing.T, dir string) { must(t, append(args, "--dir", dir)...) }
}

var advice = map[string]advised{
	"a field that nobody declares":  {args: []string{"get", "nothing"}, want: 1},
	"an owner that nobody declares": {args: []string{"view", "--owner", "nobody"}, want: 1},
	"another owner's field":         {args: []string{"set", "cost", "phase=it's `x`"}, want: 1},
	"another owner's counter":       {args: []string{"set", "cost", "turns=1"}, want: 1, fill: []string{"VALUE", "1"}},
	"another owner's key":           {args: []string{"insert", "reset", "skills", "a b"}, want: 1},
	"an event by another verb":      {args: []string{"set", "reset", "began=1"}, want: 1},
	"not fresh":                     {args: []string{"get", "tokens", "--require-fresh"}, before: begunWith("set", "cost", "tokens=1"), want: 1},
	"what is not fresh":             {args: []string{"view", "--stale"}, before: begunWith("set", "cost", "tokens=1"), want: 1, fill: []string{"FIELD", "tokens"}},
	"no JSON":                       {args: []string{"set", "reset", "phase=x"}, before: overwrite("reset.json", "{"), want: 1},
	"no JSON, read":                 {args: []string{"get", "phase"}, before: overwrite("reset.json", "{"), want: 1},
	"no JSON, accepted":             {args: []string{"accept", "reset"}, before: overwrite("reset.json", "{"), want: 1},
	"another hand":                  {args: []string{"set", "reset", "phase=x"}, before: overwrite("reset.json", `{"phase":"y"}`), want: 1},
	"another hand, explained":       {args: []string{"explain", "phase"}, before: overwrite("reset.json", `{"phase":"y"}`), want: 2, fill: []string{"VALUE", "x"}},
	"what writes":                   {args: []string{"explain", "turns"}, want: 1, fill: []string{"VALUE", "-1"}},
	"what is open":                  {args: []string{"explain", "began"}, before: begunWith("begin", "reset", "began"), want: 2},
	"deferred":                      {args: []string{"view"}, before: pending, want: 1},
	"a lock that was lost": {args: []string{"set", "reset", "phase=x"}, before: func(t *testing.T, dir string) {
		if err := os.Remove(filepath.Join(dir, ".freehold", "reset.lock")); err != nil {
			t.Fatal(err)
		}
	}, want: 1},
	"a patch that is none": {args: []string{"apply", "reset"}, want: 1},
	"a newer declaration":  {args: []string{"adopt", "legacy.json", "--owners", "newer one.yaml"}, want: 1},
}

// pending leaves a pending patch.
func pending(t *testing.T, dir string) {
	o := &sidecar.Options{Wait: -1}
	w, err := sidecar.Open(t.Context(), dir, nil, "tool", o)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	holder, err := sidecar.Open(t.Context(), dir, nil, "tool", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close()
	_, err = holder.Update(t.Context(), func(*sidecar.Tx) error {
		_, err := w.Update(t.Context(), func(tx *sidecar.Tx) error {
			tx.Apply(sidecar.Op{Field: "runs", Verb: schema.VerbAdd, Value: []byte("1")})
			return nil
		})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Whoever is told to run a command can copy it: it goes to the same place as the
// call that said so, whatever that is called, and is a command that there is.
func TestEveryCommandThatAMessageNamesCanBeRunAsItStands(t *testing.T) {
	for name, a := range advice {
		for _, instance := range [][]string{nil, {"--instance", "it's `two`"}} {
			t.Run(name+strings.Join(instance, " "), func(t *testing.T) {
				t.Chdir(t.TempDir())
				where := append([]string{"--dir", "a `b`\n$(c)'s"}, instance...)
				dir := makeAdvisable(t, where)
				if a.before != nil {
					a.before(t, dir)
				}
				got := call(t, "", append(slices.Clone(a.args), where...)...)
				lines := backquoted(got.Stdout + got.Stderr)
				if len(lines) != a.want {
					t.Errorf("it names %q, want %d commands:\n%s%s", lines, a.want, got.Stdout, got.Stderr)
				}
				for _, line := range lines {
					copied(t, strings.NewReplacer(a.fill...).Replace(line))
				}
			})
		}
	}
}

// makeAdvisable makes a state where the flags say, and returns its directory.
func makeAdvisable(t *testing.T, where []string) string {
	t.Helper()
	instances := ""
	if len(where) > 2 {
		instances = "instances: {by: session_id}\n"
	}
	newer := strings.Replace(advisable, "{type: string}", "{type: string, legacy: p}", 1)
	for file, text := range map[string]string{
		"owners.yaml": instances + advisable, "legacy.json": `{"p":"x"}`,
		"newer one.yaml": instances + strings.Replace(newer, "tokens: {type: int", "tokens: {type: string", 1),
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	must(t, append([]string{"state", "init"}, where...)...)
	var made struct {
		Dir string `json:"dir"`
	}
	if err := json.Unmarshal([]byte(must(t, append([]string{"view", "--json"}, where...)...)), &made); err != nil {
		t.Fatal(err)
	}
	statetest.Damaged(made.Dir, "sidecar-invalid", "sidecar-foreign", "lock-lost")
	return made.Dir
}

// backquoted returns the commands that a text names, as somebody would find them
// who looks for backquotes outside of quotes.
func backquoted(text string) (lines []string) {
	for _, m := range regexp.MustCompile("`freehold ((?:'[^']*'|\"[^\"]*\"|\\\\.|[^'\"`])*)`").FindAllStringSubmatch(text, -1) {
		lines = append(lines, m[1])
	}
	return lines
}

// copied runs the words of a command as a shell takes them.
func copied(t *testing.T, line string) {
	t.Helper()
	out, err := exec.Command("sh", "-c", `for word in `+line+`; do printf '%s\0' "$word"; done`).Output()
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	args := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	if got := call(t, "", args...); !slices.Contains([]int{failure.ExitDone, failure.ExitNegative, failure.ExitState}, got.Status) {
		t.Errorf("freehold %s: status %d\n%s", line, got.Status, got.Stderr)
	}
}
