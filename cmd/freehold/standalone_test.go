package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/cmd/freehold/internal/cli"
	"github.com/freehold-dev/freehold/reader/statetest"
	"github.com/go-json-experiment/json"
)

// What a program is told to run, it runs wherever it is: from a directory with
// another state above it, that one would be repaired. Whoever called for the
// JSON may have named the state in the environment or by its own directory.
func TestEveryCommandInJSONNamesItsStateInFull(t *testing.T) {
	for _, args := range [][]string{
		{"view"}, {"view", "--owner", "reset"}, {"explain", "phase"}, {"get", "phase"}, {"doctor"}, {"state", "instances"}, {"prune"},
	} {
		for _, how := range []string{"from inside", "by the environment", "by a flag"} {
			t.Run(strings.Join(args, " ")+" "+how, func(t *testing.T) {
				t.Setenv(cli.DirVariable, "")
				base, all := t.TempDir(), slices.Concat(args, []string{"--json"})
				dir := damagedInstance(t, filepath.Join(base, "a `b`"))
				switch how {
				case "from inside":
					t.Chdir(dir)
				case "by the environment":
					t.Setenv(cli.DirVariable, dir)
				default:
					t.Chdir(base)
					all = append(all, "--dir", "a `b`", "--instance", "it's two")
				}
				got := call(t, "", all...)
				t.Setenv(cli.DirVariable, "")
				t.Chdir(damagedInstance(t, filepath.Join(t.TempDir(), "decoy")))
				lines := commandsOf(t, got.Stdout)
				for _, line := range lines {
					if !strings.Contains(line, "--dir '"+filepath.Dir(dir)) {
						t.Errorf("it says freehold %s, without the directory", line)
					}
					copied(t, line)
				}
				if len(lines) == 0 && slices.Contains([]string{"view", "explain", "doctor"}, args[0]) {
					t.Errorf("it names no command: %+v", got)
				}
				if text, err := os.ReadFile("reset.json"); string(text) != "{}" {
					t.Errorf("the other state was repaired: %s, %v", text, err)
				}
			})
		}
	}
}

// damagedInstance makes an instance in dir whose sidecar reset another hand wrote,
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
