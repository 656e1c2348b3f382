package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/freehold-dev/freehold/cmd/freehold/internal/cli"
	"github.com/freehold-dev/freehold/cmd/freehold/internal/manual"
	"github.com/freehold-dev/freehold/cmd/internal/console"
	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/cmd/internal/verbs"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// eachCommand calls f with every command and its words.
func eachCommand(root *cobra.Command, f func(cmd *cobra.Command, words []string)) {
	var walk func(cmd *cobra.Command, words []string)
	walk = func(cmd *cobra.Command, words []string) {
		f(cmd, words)
		for _, sub := range cmd.Commands() {
			walk(sub, append(slices.Clone(words), sub.Name()))
		}
	}
	walk(root, nil)
}

func TestHelpThatCannotBeWrittenFails(t *testing.T) {
	for _, args := range [][]string{{}, {"help"}, {"help", "view"}, {"view", "--help"}, {"--version"}, {"completion", "bash"}} {
		var stderr strings.Builder
		status := run(t.Context(), args, strings.NewReader(""), full{}, &stderr)
		if status != failure.ExitIO || !strings.HasPrefix(stderr.String(), "freehold: error: ") {
			t.Errorf("%q: status %d, stderr %q; want %d", args, status, &stderr, failure.ExitIO)
		}
	}
}

// A remedy names the state with the flags that its command takes.
func TestRemediesTakeTheFlagsOfTheirCommands(t *testing.T) {
	eachCommand(newRoot(&cli.Call{}), func(cmd *cobra.Command, words []string) {
		if cmd.HasSubCommands() {
			return
		}
		for flag, value := range map[string]string{"dir": "/d", "instance": "i", "owners": "/o"} {
			c := &console.Console{Given: map[string]string{flag: value}}
			takes := cmd.Flags().Lookup(flag) != nil
			if got := c.Line(store.By(store.Verb(strings.Join(words, " "))), ""); strings.Contains(got, "--"+flag) != takes {
				t.Errorf("%s: the command takes --%s: %v", got, flag, takes)
			}
		}
	})
}

// Every example must be a command line that the program takes, up to its work.
func TestEveryCommandHasARunnableExample(t *testing.T) {
	eachCommand(newRoot(&cli.Call{}), func(cmd *cobra.Command, words []string) {
		t.Run(cmd.CommandPath(), func(t *testing.T) {
			lines := exampleLines(cmd.Example)
			if len(lines) == 0 {
				t.Fatal("there is no example")
			}
			// Later examples may use the answer of the first.
			if got := checkExample(t, lines[0]); !strings.HasPrefix(got, cmd.CommandPath()) && cmd.HasParent() && cmd.Name() != "help" {
				t.Errorf("%s: it is an example of %s", lines[0], got)
			}
			for _, line := range lines[1:] {
				checkExample(t, line)
			}
		})
	})
}

// exampleLines returns the calls of freehold in an example.
func exampleLines(example string) []string {
	var calls []string
	for line := range strings.Lines(strings.ReplaceAll(example, "\\\n", " ")) {
		if _, call, ok := strings.Cut(line, "freehold "); ok {
			call, _, _ = strings.Cut(call, "  ") // its meaning
			call, _, _ = strings.Cut(call, " |")
			call, _, _ = strings.Cut(call, " >")
			call, _, _ = strings.Cut(call, " &&")
			calls = append(calls, strings.TrimRight(strings.TrimSpace(call), ")"))
		}
	}
	return calls
}

// checkExample parses a command line as run does, without running it, and
// returns the path of its command.
func checkExample(t *testing.T, line string) string {
	t.Helper()
	root := newRoot(&cli.Call{})
	args := operandsLast(root, shellWords(line))
	cmd, rest, err := root.Find(args)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	if err := cmd.ParseFlags(rest); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	if err := cmd.ValidateArgs(cmd.Flags().Args()); err != nil {
		t.Errorf("%s: %v", line, err)
	}
	return cmd.CommandPath()
}

// shellWords splits a line as a shell does, with double quotes.
func shellWords(line string) []string {
	var words []string
	for i, part := range strings.Split(line, `"`) {
		if i%2 == 1 {
			words = append(words, part)
		} else {
			words = append(words, strings.Fields(part)...)
		}
	}
	return words
}

// fh has the help of its commands from a file.
func TestHelpOfFhIsThatOfFreehold(t *testing.T) {
	var list, helps strings.Builder
	list.WriteString(`fh is the part of Freehold for hooks and scripts: small, so that it starts at once. Its
commands, flags, answers and exit statuses are those of freehold; view wants --json.

usage: fh COMMAND

`)
	for _, name := range fhCommands() {
		cmd, _, err := newRoot(&cli.Call{}).Find([]string{name})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&list, "  %-8s  %s\n", name, cmd.Short)
		fmt.Fprintf(&helps, "\n== %s ==\n%s", name, must(t, name, "--help"))
	}
	golden(t, "../../fh/help.txt", "== fh ==\n"+list.String()+helps.String())
}

// fhCommands returns the names of the commands of fh.
func fhCommands() []string {
	names := []string{"lease", "version", "view"}
	for verb := range verbs.All() {
		names = append(names, verb.Name)
	}
	slices.Sort(names)
	return names
}

// COMMANDS.md is the help of all commands, which fits a terminal.
func TestCommandsAreDocumented(t *testing.T) {
	var b strings.Builder
	b.WriteString("<!-- Written by go test ./cmd/freehold -run TestCommandsAreDocumented -update; do not edit. -->\n\n# Commands\n\n## Exit statuses\n\n| status | meaning |\n|---|---|\n")
	for _, s := range failure.Statuses {
		fmt.Fprintf(&b, "| %d | %s |\n", s.Status, s.Meaning)
	}
	eachCommand(newRoot(&cli.Call{}), func(cmd *cobra.Command, words []string) {
		help := must(t, append(words, "--help")...)
		for line := range strings.Lines(help) {
			if len(line) > 100 {
				t.Errorf("%s --help: %d columns: %s", cmd.CommandPath(), len(line), line)
			}
		}
		fmt.Fprintf(&b, "\n## %s\n\n```text\n%s```\n", cmd.CommandPath(), help)
	})
	for _, topic := range manual.Topics() {
		fmt.Fprintf(&b, "\n## freehold help %s\n\n```text\n%s```\n", topic.Name, topic.Text())
	}
	golden(t, "../COMMANDS.md", b.String())
}
