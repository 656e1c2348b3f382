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
	before func(t *testing.T, dir string) // changes the state first
	want   int                            // how many commands it names
	fill   []string                       // values for the words in capitals
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
	"another owner's field":         {args: []string{"set", "cost", "phase=it's `x`"}, want: 0},
	"another owner's counter":       {args: []string{"set", "cost", "turns=1"}, want: 0},
	"another owner's key":           {args: []string{"insert", "reset", "skills", "a b"}, want: 0},
	"an event by another verb":      {args: []string{"set", "reset", "began=1"}, want: 1},
	"not fresh":                     {args: []string{"get", "tokens", "--require-fresh"}, before: begunWith("set", "cost", "tokens=1"), want: 1},
	"what is not fresh":             {args: []string{"view", "--stale"}, before: begunWith("set", "cost", "tokens=1"), want: 1, fill: []string{"FIELD", "tokens"}},
	"no JSON":                       {args: []string{"set", "reset", "phase=x"}, before: overwrite("reset.json", "{"), want: 1},
	"no JSON, read":                 {args: []string{"get", "phase"}, before: overwrite("reset.json", "{"), want: 1},
	"no JSON, accepted":             {args: []string{"accept", "reset"}, before: overwrite("reset.json", "{"), want: 1},
	"another hand":                  {args: []string{"set", "reset", "phase=x"}, before: overwrite("reset.json", `{"phase":"y"}`), want: 1},
	"another hand, explained":       {args: []string{"explain", "phase"}, before: overwrite("reset.json", `{"phase":"y"}`), want: 1},
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

// A command in a message is one that there is, and goes to the state of the call
// that printed it, with any characters in its name.
func TestEveryCommandThatAMessageNamesCanBeRunAsItStands(t *testing.T) {
	for name, a := range advice {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			where := []string{"--dir", "a `b`\n$(c)'s", "--instance", "it's `two`"}
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

// makeAdvisable makes a state where the flags say, and returns its directory.
func makeAdvisable(t *testing.T, where []string) string {
	t.Helper()
	const instances = "instances: {by: session_id}\n"
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

// backquoted returns the commands between backquotes, outside of quotes, in a text.
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

// A program runs a command of a JSON report wherever it is: from a directory with
// another state above it, that one would be repaired.
func TestEveryCommandInJSONNamesItsStateInFull(t *testing.T) {
	for command, named := range map[string]bool{"view": true, "view --owner reset": true, "explain phase": true, "doctor": true, "get phase": false, "state instances": false, "prune": false} {
		t.Run(command, func(t *testing.T) {
			dir := damagedInstance(t, filepath.Join(t.TempDir(), "a `b`"))
			t.Chdir(dir)
			got := call(t, "", append(strings.Fields(command), "--json")...)
			t.Chdir(damagedInstance(t, filepath.Join(t.TempDir(), "decoy")))
			lines := commandsOf(t, got.Stdout)
			for _, line := range lines {
				if !strings.Contains(line, "--dir '"+filepath.Dir(dir)) {
					t.Errorf("it says freehold %s, without the directory", line)
				}
				copied(t, line)
			}
			if named && len(lines) == 0 {
				t.Errorf("it names no command: %+v", got)
			}
			if text, err := os.ReadFile("reset.json"); string(text) != "{}" {
				t.Errorf("the other state was repaired: %s, %v", text, err)
			}
		})
	}
}

// damagedInstance makes an instance in dir with a foreign sidecar of reset,
// and returns its directory.
func damagedInstance(t *testing.T, dir string) string {
	t.Helper()
	owners := filepath.Join(t.TempDir(), "owners.yaml")
	if err := os.WriteFile(owners, []byte("instances: {by: session_id}\n"+advisable), 0o600); err != nil {
		t.Fatal(err)
	}
	var made struct {
		Dir string `json:"dir"`
	}
	if err := json.Unmarshal([]byte(must(t, "state", "init", "--dir", dir, "--instance", "it's two", "--owners", owners, "--json")), &made); err != nil {
		t.Fatal(err)
	}
	overwrite("reset.json", "{}")(t, made.Dir)
	statetest.Damaged(made.Dir, "sidecar-invalid", "sidecar-foreign")
	return made.Dir
}

// commandsOf returns the commands of Freehold in lines of JSON: the strings
// that are one, and those that stand in others.
func commandsOf(t *testing.T, lines string) (commands []string) {
	for _, text := range textsOf(t, lines) {
		if rest, ok := strings.CutPrefix(text, "freehold "); ok {
			commands = append(commands, rest)
		}
		commands = append(commands, backquoted(text)...)
	}
	return commands
}

// textsOf returns the strings in lines of JSON.
func textsOf(t *testing.T, lines string) (texts []string) {
	t.Helper()
	var collect func(v any)
	collect = func(v any) {
		switch v := v.(type) {
		case string:
			texts = append(texts, v)
		case []any:
			for _, each := range v {
				collect(each)
			}
		case map[string]any:
			for _, each := range v {
				collect(each)
			}
		}
	}
	for line := range strings.Lines(lines) {
		var v any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		collect(v)
	}
	return texts
}
