package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A readme is README.md taken apart: the files that it shows, the commands
// that it has a reader type, in blocks, and its other texts in fences.
type readme struct {
	files    map[string]string
	commands [][]string
	outputs  []string
	text     string
}

var (
	fence  = regexp.MustCompile("(?ms)(?:^`([^`\n]+)`:\n\n)?^```(\\w*)\n(.*?)^```$")
	inline = regexp.MustCompile("`(?:go tool )?freehold ([^`]+)`")
)

func parseReadme(t *testing.T) readme {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	r := readme{files: map[string]string{}, text: string(text)}
	for _, m := range fence.FindAllStringSubmatch(r.text, -1) {
		file, language, body := m[1], m[2], m[3]
		switch {
		case file != "":
			r.files[file] = body
		case language == "console":
			var block []string
			for line := range strings.Lines(body) {
				command, ok := strings.CutPrefix(line, "$ ")
				if !ok {
					t.Fatalf("a console block has the line %q: they hold commands only", line)
				}
				block = append(block, strings.TrimSpace(command))
			}
			r.commands = append(r.commands, block)
		default:
			r.outputs = append(r.outputs, body)
		}
	}
	return r
}

// Every command that the README prints works, in the order and the place that
// it says.
func TestReadmeIsTrue(t *testing.T) {
	r := parseReadme(t)
	if len(r.commands) != 3 {
		t.Fatalf("%d blocks of commands, want three", len(r.commands))
	}
	// The first block is for a clone of the repository. TestDemo runs the
	// demo, and the tests are what runs now.
	if diff := cmp.Diff([]string{"go run ./cmd/freehold demo", "go test ./..."}, r.commands[0]); diff != "" {
		t.Errorf("the first commands (-want +got):\n%s", diff)
	}
	checkout, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir, env := t.TempDir(), goEnvironment(t)
	shell := func(command string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "sh", "-c", command)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", command, err, out)
		}
		return string(out)
	}
	if !strings.Contains(r.text, "`go mod init example.com/demo`") {
		t.Error("the README does not say how its module was made")
	}
	shell("go mod init example.com/demo")
	// What a release would fetch, this takes from the checkout.
	shell("go mod edit -replace=github.com/freehold-dev/freehold=" + checkout)
	for _, command := range r.commands[1] {
		shell(command)
	}
	for name, text := range r.files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var last string
	for _, command := range r.commands[2] {
		last = shell(command)
	}
	explained := varying.ReplaceAllString(last, "…")
	if !slices.ContainsFunc(r.outputs, func(out string) bool { return strings.HasPrefix(explained, varying.ReplaceAllString(out, "…")) }) {
		t.Errorf("the README does not show what explain prints:\n%s", last)
	}
	refused := exec.CommandContext(t.Context(), "go", "build", "./owners/agent/reset/cmd/trespass")
	refused.Dir, refused.Env = dir, append(os.Environ(), env...)
	out, err := refused.CombinedOutput()
	if err == nil || !slices.ContainsFunc(r.outputs, func(shown string) bool { return strings.Contains(string(out), strings.TrimSpace(shown)) }) {
		t.Errorf("the README does not show what the trespasser gets (%v):\n%s", err, out)
	}
}

// varying matches what differs from run to run.
var varying = regexp.MustCompile(`\d{4}-\d\d-\d\dT[0-9:.]+Z|process \d+|\d+\.\d+\.[0-9a-v]{13}`)

func TestReadmeNamesCommandsThatExist(t *testing.T) {
	r := parseReadme(t)
	named := inline.FindAllStringSubmatch(r.text, -1)
	if len(named) == 0 {
		t.Fatal("no command is named")
	}
	root := newRoot(&cli{})
	for _, m := range named {
		words := strings.Fields(m[1])
		if words[0] == "help" {
			continue
		}
		found, _, err := root.Find(words)
		if err != nil || found == root {
			t.Errorf("there is no `freehold %s`: %v", m[1], err)
		}
	}
}
