package main

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/reader/statetest"
)

const skillsYAML = `state: usage
owners:
  creator:
    fields:
      skills: {kind: map, keys: true, record: {by: {type: string}}}
  tool:
    fields:
      skills: {kind: map, record: {runs: {type: int}}}
      note: {type: string}
`

// advising are the calls that a damaged sidecar of tool stops.
var advising = map[string][]string{
	"commit":  {"set", "tool", "note=x"},
	"view":    {"view"},
	"adopt":   {"adopt", "legacy.json"},
	"upgrade": {"state", "upgrade", "--owners", "next.yaml"},
	"dry run": {"state", "upgrade", "--owners", "next.yaml", "--dry-run"},
}

// attachments spoil a sidecar of tool by a key that its owner may not have.
var attachments = map[string]func(written string) string{
	"a wrong sum": func(s string) string { return ghost(s) },
	"a right sum": func(s string) string { return summed(strings.Replace(ghost(s), `"state":"`, `"state":"x`, 1)) },
	"no sum":      func(string) string { return `{"skills":{"ghost":{"runs":1}}}` },
}

func ghost(text string) string {
	const before = `"skills":{"deploy":{` // not in $sidecar
	return strings.Replace(text, before, `"skills":{"ghost":{"runs":1},"deploy":{`, 1)
}

// summed returns a sidecar with the sum that it should have.
func summed(text string) string {
	digits := regexp.MustCompile(`"sum":"[0-9a-f]{64}"`)
	blank := digits.ReplaceAllString(text, `"sum":"`+strings.Repeat("0", 64)+`"`)
	sum := sha256.Sum256([]byte(blank))
	return digits.ReplaceAllString(text, `"sum":"`+hex.EncodeToString(sum[:])+`"`)
}

// The first command about a damaged sidecar works as it stands: accept only where
// the owner that decides the keys has them all. Every call says the same.
func TestEveryErrorNamesACommandThatWorks(t *testing.T) {
	for damage, spoil := range attachments {
		for how, args := range advising {
			if how != "commit" && damage != "no sum" {
				continue // one place decides, for all calls
			}
			t.Run(damage+"/"+how, func(t *testing.T) {
				for _, tc := range []struct {
					name, spoiler, want string
					prepare             []string
				}{
					{name: "nobody created the key", want: "quarantine"},
					{name: "its owner has created it", want: "accept", prepare: []string{"put", "creator", "skills", "ghost", "by=ann"}},
					{name: "its owner's sidecar is torn", want: "quarantine", spoiler: `{"skills":`},
				} {
					dir, state := skillsState(t)
					if tc.prepare != nil {
						must(t, append(tc.prepare, "--dir", state)...)
					}
					spoilt(t, state, "tool", spoil)
					if tc.spoiler != "" {
						statetest.Damaged(state, "sidecar-invalid")
						spoilt(t, state, "creator", func(string) string { return tc.spoiler })
					}
					t.Chdir(dir)
					call := append(args[:len(args):len(args)], "--dir", state)
					verb := heeded(t, call)
					if verb != tc.want {
						t.Errorf("%s: it says %s, want %s", tc.name, verb, tc.want)
					}
					if tc.spoiler == "" {
						must(t, call...)
					}
				}
			})
		}
	}
}

// skillsState makes a state of two owners of one map, with a key in it, beside the
// files of the calls.
func skillsState(t *testing.T) (dir, state string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range map[string]string{
		"owners.yaml": skillsYAML,
		"next.yaml":   strings.Replace(skillsYAML, "note: {type: string}", "text: {type: string, was: note}", 1),
		"legacy.json": `{"note":"x"}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	state = filepath.Join(dir, "state")
	must(t, "state", "init", "--dir", state, "--owners", filepath.Join(dir, "owners.yaml"))
	must(t, "put", "creator", "skills", "deploy", "by=ann", "--dir", state)
	must(t, "put", "tool", "skills", "deploy", "runs=1", "--dir", state)
	return dir, state
}

func spoilt(t *testing.T, state, owner string, spoil func(string) string) {
	t.Helper()
	path := filepath.Join(state, owner+".json")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	spoiled := spoil(string(text))
	if spoiled == string(text) {
		t.Fatalf("nothing is spoiled in %s", text)
	}
	if err := os.WriteFile(path, []byte(spoiled), 0o600); err != nil {
		t.Fatal(err)
	}
}

// heeded fails the test unless args are refused and the first command for tool
// in the error then works as it stands. It returns the verb of the command.
func heeded(t *testing.T, args []string) (verb string) {
	t.Helper()
	refused := call(t, "", args...)
	if refused.Status != failure.ExitState {
		t.Fatalf("%q: %+v", args, refused)
	}
	command := regexp.MustCompile("`freehold ((accept|quarantine) tool[^`]*)`").FindStringSubmatch(refused.Stdout + refused.Stderr)
	if command == nil {
		t.Fatalf("%q names no command: %+v", args, refused)
	}
	if got := call(t, "", strings.Fields(command[1])...); got.Status != failure.ExitDone {
		t.Errorf("%q says %s: %+v", args, command[0], got)
	}
	return command[2]
}
