package main

import (
	"bytes"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/cmd/freehold/internal/cli"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// A readme is README.md, and the how-to pages that go on from there, taken
// apart: the files that they show, their commands in blocks, and their other
// texts in fences.
type readme struct {
	files    map[string]string
	commands [][]string
	outputs  []string
	text     string
}

var (
	fence  = regexp.MustCompile("(?ms)(?:^`([^`\n]+)`:\n\n)?^```(\\w*)\n(.*?)^```$")
	inline = regexp.MustCompile("`(?:go tool )?freehold ([a-z][^`]*)`")
)

func parseReadme(t *testing.T) readme {
	t.Helper()
	r := readme{files: map[string]string{}}
	for _, page := range []string{"../../README.md", "../../owners/README.md"} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		r.text += string(text)
	}
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

// The blocks of commands, in order.
const (
	inClone = iota
	fromRelease
	fromClone
	first
	use
	overtaken
	reading
	vetting
	blocks
)

// example is where the README says that the clone is.
const example = "/src/freehold"

// newReader returns a reader's new module, and a shell in it with more in its
// environment.
func (r readme) newReader(t *testing.T, more ...string) (dir string, shell func(command string) string) {
	t.Helper()
	if len(r.commands) != blocks {
		t.Fatalf("%d blocks of commands, want %d", len(r.commands), blocks)
	}
	if !strings.Contains(r.text, "`go mod init example.com/demo`") {
		t.Error("the README does not say how its module was made")
	}
	own := goEnvironment(t)
	proxies := []string{"GOPROXY=" + valueOf(own, "USERPROXY"), "GOSUMDB=" + valueOf(own, "USERSUMDB")}
	dir, env := t.TempDir(), slices.Concat(os.Environ(), own, proxies, more)
	shell = func(command string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "sh", "-c", command)
		cmd.Dir, cmd.Env = dir, env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", command, err, out)
		}
		return string(out)
	}
	shell("go mod init example.com/demo")
	return dir, shell
}

// valueOf returns the value of a variable in env.
func valueOf(env []string, name string) string {
	for _, variable := range env {
		if value, ok := strings.CutPrefix(variable, name+"="); ok {
			return value
		}
	}
	return ""
}

// Every command that the README prints works, in the order and the place that
// it says; but the clone is where this one is.
func TestReadmeIsTrue(t *testing.T) {
	r := parseReadme(t)
	dir, shell := r.newReader(t)
	// The first block is for a clone of the repository. TestDemoTellsItsWholeStory
	// runs the demo, and this run is one of the tests.
	if diff := cmp.Diff([]string{"go run ./cmd/freehold demo", "go test ./..."}, r.commands[inClone]); diff != "" {
		t.Errorf("the first commands (-want +got):\n%s", diff)
	}
	checkout, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(r.text, "here at `"+example+"`") {
		t.Errorf("the README does not say that the clone is at %s", example)
	}
	for _, command := range slices.Concat(r.commands[fromClone], r.commands[first]) {
		shell(strings.ReplaceAll(command, example, checkout))
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
	for _, command := range r.commands[use] {
		last = shell(command)
	}
	explained := varying.ReplaceAllString(last, "…")
	if !slices.ContainsFunc(r.outputs, func(out string) bool { return strings.HasPrefix(explained, varying.ReplaceAllString(out, "…")) }) {
		t.Errorf("the README does not show what explain prints:\n%s", last)
	}
	for _, command := range r.commands[overtaken] {
		last = shell(command)
		if strings.Contains(command, "--require-fresh") && last != "1234\n" {
			t.Errorf("%s prints %q, want what the README says", command, last)
		}
	}
	explained = varying.ReplaceAllString(last, "…")
	if !slices.ContainsFunc(r.outputs, func(out string) bool { return strings.Contains(explained, varying.ReplaceAllString(out, "…")) }) {
		t.Errorf("the README does not show why prompt_tokens is stale:\n%s", last)
	}
	for _, command := range r.commands[reading] {
		last = shell(command)
	}
	if want := "1234 tokens of freehold are stale: "; !strings.HasPrefix(last, want) {
		t.Errorf("the status is %q, want %q", last, want)
	}
	refused := exec.CommandContext(t.Context(), "go", "build", "./owners/agent/reset/cmd/trespass")
	refused.Dir, refused.Env = dir, append(os.Environ(), goEnvironment(t)...)
	out, err := refused.CombinedOutput()
	if err == nil || !slices.ContainsFunc(r.outputs, func(shown string) bool { return strings.Contains(string(out), strings.TrimSpace(shown)) }) {
		t.Errorf("the README does not show what the trespasser gets (%v):\n%s", err, out)
	}
}

// The go command gets a release as the README says, from a module proxy that has
// this checkout as its only release, and finds every package of the tool in it.
// TestReadmeIsTrue builds the tool.
func TestReadmeIsTrueOfARelease(t *testing.T) {
	r := parseReadme(t)
	proxy := t.TempDir()
	publish(t, filepath.Join(proxy, filepath.FromSlash("github.com/freehold-dev/freehold"), "@v"), "v0.9.0")
	own := goEnvironment(t)
	_, shell := r.newReader(t, "GOFLAGS=-modcacherw",
		"GOMODCACHE="+t.TempDir(),
		"GOPROXY=file://"+proxy+",file://"+filepath.Join(valueOf(own, "GOMODCACHE"), "cache/download")+","+valueOf(own, "USERPROXY"), "GONOSUMDB="+"github.com/freehold-dev/freehold")
	for _, command := range r.commands[fromRelease] {
		shell(command)
	}
	// A script of cmd/freeholdvet runs the second line of this block.
	if diff := cmp.Diff("go vet -vettool=$(go tool -n freeholdvet) ./...", r.commands[vetting][1]); diff != "" {
		t.Error(diff)
	}
	shell(r.commands[vetting][0])
	if got := shell("go list -deps -f '{{with .Module}}{{.Path}} {{.Version}}{{end}}' tool"); !strings.Contains(got, "github.com/freehold-dev/freehold v0.9.0\n") {
		t.Errorf("the tool is of\n%s", got)
	}
}

// publish writes the files with which a proxy offers this checkout.
func publish(t *testing.T, dir, version string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	var source bytes.Buffer
	if err := zip.CreateFromDir(&source, module.Version{Path: "github.com/freehold-dev/freehold", Version: version}, "../.."); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"list":            version + "\n",
		version + ".info": `{"Version": "` + version + `", "Time": "2026-01-01T00:00:00Z"}`,
		version + ".mod":  string(mod),
		version + ".zip":  source.String(),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// varying matches the parts that differ from run to run.
var varying = regexp.MustCompile(`\d{4}-\d\d-\d\dT[0-9:.]+Z|process \d+|\d+\.\d+\.[0-9a-v]{13}`)

func TestReadmeNamesCommandsThatExist(t *testing.T) {
	r := parseReadme(t)
	named := inline.FindAllStringSubmatch(r.text, -1)
	if len(named) == 0 {
		t.Fatal("no command is named")
	}
	root := newRoot(&cli.Call{})
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

// The table of .ci/TESTS.md has every variable that a test reads, and no other
// one, and names tests that are there.
func TestTestsPageNamesEveryBudget(t *testing.T) {
	text, err := os.ReadFile("../../.ci/TESTS.md")
	if err != nil {
		t.Fatal(err)
	}
	table, _, _ := strings.Cut(string(text), "\nA million increments")
	named := map[string]bool{}
	for _, name := range regexp.MustCompile("`(FREEHOLD_[A-Z_]+)`").FindAllStringSubmatch(table, -1) {
		named[name[1]] = true
	}
	read, tests := map[string]bool{}, map[string]bool{}
	variable := regexp.MustCompile(`"(FREEHOLD_[A-Z_]+)"`)
	of := regexp.MustCompile(`(?m)^func (Test[A-Za-z0-9]+)\(`)
	err = filepath.WalkDir("../..", func(path string, e fs.DirEntry, err error) error {
		support := strings.Contains(path, "/testkit/") || strings.Contains(path, "/scratch/") // imported by tests alone
		if err != nil || e.IsDir() || !strings.HasSuffix(path, "_test.go") && !support {
			return err
		}
		source, err := os.ReadFile(path)
		for _, name := range variable.FindAllStringSubmatch(string(source), -1) {
			// Variables of the tests' own processes are no budgets, nor are those of programs.
			if !strings.HasPrefix(name[1], "FREEHOLD_TEST_") && !strings.HasPrefix(name[1], "FREEHOLD_BENCH_") && !strings.HasPrefix(name[1], "FREEHOLD_INJECT_") && name[1] != "FREEHOLD_DIR" {
				read[name[1]] = true
			}
		}
		for _, name := range of.FindAllStringSubmatch(string(source), -1) {
			tests[name[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(read)), slices.Sorted(maps.Keys(named))); diff != "" {
		t.Errorf("variables that tests read, and that .ci/TESTS.md names (-want +got):\n%s", diff)
	}
	for _, name := range regexp.MustCompile("`(Test[A-Za-z0-9]+)`").FindAllStringSubmatch(table, -1) {
		if !tests[name[1]] {
			t.Errorf("there is no test %s", name[1])
		}
	}
}
