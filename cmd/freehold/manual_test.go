package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/freehold-dev/freehold/cmd/freehold/internal/cli"
	"github.com/freehold-dev/freehold/cmd/freehold/internal/manual"
	"github.com/freehold-dev/freehold/schema"
)

// plain returns the text of a manual page without its macros and escapes.
func plain(page []byte) string {
	text := strings.NewReplacer(`\fB`, "", `\fI`, "", `\fR`, "", `\-`, "-", `\e`, `\`, `\(aq`, "'", `\(ga`, "`", `\(ha`, "^", `\(ti`, "~", `\&`, "").Replace(string(page))
	return strings.Join(strings.Fields(text), " ")
}

// The manual has one page for each command and topic, with all that the help says,
// and no other page.
func TestManualIsTheCommandTree(t *testing.T) {
	dir := t.TempDir()
	must(t, "man", dir)
	var report struct{ Files []string }
	if err := json.Unmarshal([]byte(must(t, "man", dir, "--json")), &report); err != nil {
		t.Fatal(err)
	}
	wants := map[string][]string{} // texts by page
	eachCommand(newRoot(&cli.Call{}), func(cmd *cobra.Command, words []string) {
		want := append(strings.Split(cmd.Example, "\n"), cmd.Short, cmd.Long, cmd.UseLine())
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Hidden {
				return
			}
			value, usage := pflag.UnquoteUsage(f)
			want = append(want, strings.TrimSpace("--"+f.Name+" "+value), usage)
		})
		for _, sub := range cmd.Commands() {
			want = append(want, sub.Short)
		}
		wants["man1/"+strings.Join(append([]string{"freehold"}, words...), "-")+".1"] = want
	})
	wants["man1/freehold-help.1"] = []string{"print the help of a command or topic"} // cobra adds the command late
	wants["man1/fh.1"] = []string{"the part of freehold for hooks and scripts"}
	for _, topic := range manual.Topics() {
		section := 7
		if topic.Name == "owners.yaml" {
			section = 5
		}
		wants[fmt.Sprintf("man%d/freehold-%s.%d", section, topic.Name, section)] = append(strings.Split(topic.Text(), "\n"), topic.Short)
		if got := must(t, "help", topic.Name); got != topic.Text() {
			t.Errorf("help %s prints\n%s", topic.Name, got)
		}
		for line := range strings.Lines(topic.Text()) {
			if len([]rune(line)) > 100 {
				t.Errorf("help %s: %d columns: %s", topic.Name, len(line), line)
			}
		}
	}
	slices.Sort(report.Files)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(wants)), report.Files); diff != "" {
		t.Errorf("pages (-want +got)\n%s", diff)
	}
	args := []string{"-man", "-ww", "-z"}
	for file, want := range wants {
		page, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Error(err)
			continue
		}
		args = append(args, filepath.Join(dir, file))
		got := plain(page)
		for _, text := range want {
			for paragraph := range strings.SplitSeq(text, "\n\n") {
				text := strings.Join(strings.Fields(paragraph), " ")
				text = strings.ReplaceAll(text, "…", "...")
				if !strings.Contains(strings.NewReplacer(" .EX", "", " .EE", "", " .PP", "").Replace(got), text) {
					t.Errorf("%s lacks %q", file, text)
				}
			}
		}
	}
	if groff, err := exec.LookPath("groff"); err == nil { // pages that man would complain about
		if out, err := exec.Command(groff, args...).CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("groff: %v\n%s", err, out)
		}
	}
}

// Every type and kind has an example in the help, which can be declared and whose
// commands do their work.
func TestExamplesOfTypesAndKindsWork(t *testing.T) {
	yaml := "state: runtime\nowners:\n"
	var lines []string
	add := func(name string, e manual.Example) {
		if len(e.Commands) == 0 {
			t.Errorf("%s has no example", name)
		}
		yaml += fmt.Sprintf("  %s: {fields: {%s: %s}}\n", name, name, e.Declared)
		lines = append(lines, e.Commands...)
	}
	for _, typ := range schema.Types() {
		add(string(typ), manual.TypeExamples[typ])
	}
	for _, kind := range schema.Kinds() {
		add(string(kind), manual.KindExamples[kind])
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "owners.yaml")
	if err := os.WriteFile(file, []byte(yaml), 0o666); err != nil {
		t.Fatal(err)
	}
	state := filepath.Join(dir, "state")
	must(t, "state", "init", "--owners", file, "--dir", state)
	shell := exec.Command("sh", "-euc", strings.Join(lines, "\n"))
	shell.Env = append(os.Environ(), "FREEHOLD_DIR="+state)
	if out, err := shell.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if got := must(t, "get", "counter", "--dir", state); got != "0.2\n" {
		t.Errorf("the counter is %q, want 0.2", got)
	}
}
