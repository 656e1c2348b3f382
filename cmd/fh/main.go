// Command fh is the part of Freehold that hooks and scripts call: the commands that
// write as an owner, those that read for a hook, and lease, with the flags, texts and
// exit statuses that they have in freehold. It is small, so that it starts at once.
// It does not know owners.yaml: only freehold can name the parts that an owners.yaml
// declares and the state lacks.
package main

import (
	"context"
	"errors"
	"io"

	"github.com/freehold-dev/freehold/cmd/internal/console"
	"github.com/freehold-dev/freehold/cmd/internal/display"
	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/sidecar/store"
)

func main() {
	console.Main(run)
}

// run runs the command line args and returns the exit status.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	c := &call{Console: console.Console{Stdin: stdin, Stdout: stdout, Stderr: stderr}}
	display.ASCII = c.Bytewise()
	return c.End(c.run(ctx, args))
}

// run finds the command of args, reads its flags and carries it out.
func (c *call) run(ctx context.Context, args []string) error {
	name, rest, err := c.command(args)
	if err != nil {
		return err
	}
	cmd, ok := commands()[name]
	if !ok {
		return c.unknown(name)
	}
	line, err := parse(cmd.flags, rest)
	c.JSON = c.JSON || line.flags["json"] == "true"
	if err == nil && line.flags["help"] == "true" {
		return c.Print(help(name))
	}
	if err == nil {
		err = cmd.fits(name, line)
	}
	if err != nil {
		return misused(name, err)
	}
	c.Given = line.flags
	if c.JSON = c.JSON || c.Given["json"] == "true"; c.JSON {
		c.Given["json"] = "true"
	}
	if err := c.place(); err != nil {
		return misused(name, err)
	}
	for i, arg := range line.args[:min(len(line.args), 2)] {
		if arg == "" { // from a variable that is not set, most likely
			return misused(name, failure.Usage("freehold %s: the %s operand is empty", name, []string{"first", "second"}[i]))
		}
	}
	return cmd.work(ctx, c, line)
}

// misused marks an error from the parsing of a command's line.
func misused(name string, err error) error {
	if !errors.Is(err, failure.Misused) {
		err = failure.As(err, failure.Misused)
	}
	if len(store.Remedies(err)) > 0 {
		return err
	}
	words := []string{"--help"}
	if name == "" {
		return store.WithRemedy(err, store.Remedy{Verb: "--help"})
	}
	return store.WithRemedy(err, store.By(store.Verb(name), words...))
}

// unknown returns the error for a command that fh does not have.
func (c *call) unknown(name string) error {
	err := failure.Usage("fh has no command %q", name)
	return store.WithRemedy(err, store.Remedy{Note: "run `fh help` for the commands of fh"})
}
