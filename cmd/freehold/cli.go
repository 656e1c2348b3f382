package main

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/freehold-dev/freehold/cmd/internal/failure"
)

// A cli is one call of the program: where it reads and writes, and what every
// command is told.
type cli struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	json           bool           // print data as JSON
	called         *cobra.Command // whose own code runs: what fails now is no misuse of the command line
	unwritten      error          // why the help that a flag asks for was not written
}

// run runs the command line args and returns the exit status.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	c := &cli{stdin: stdin, stdout: stdout, stderr: stderr}
	root := newRoot(c)
	root.SetArgs(operandsLast(root, args))
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil && c.called == nil {
		err = misused(cmd, err)
	}
	if err == nil {
		err = c.unwritten
	}
	c.complain(err)
	return exitStatus(err)
}

// misused marks an error from the parsing of cmd's command line.
func misused(cmd *cobra.Command, err error) error {
	if !errors.Is(err, failure.Misused) {
		err = failure.As(err, failure.Misused)
	}
	if failure.HintOf(err) != "" {
		return err
	}
	return failure.Hint(err, "see `"+cmd.CommandPath()+" --help`")
}

// A runner is the work of one command.
type runner func(ctx context.Context, args []string) error

// command completes the cobra command spec, whose work is work.
func (c *cli) command(spec *cobra.Command, work runner) *cobra.Command {
	spec.DisableFlagsInUseLine = true
	spec.RunE = func(cmd *cobra.Command, args []string) error {
		c.called = cmd
		if err := named(cmd, args); err != nil {
			return err
		}
		return work(cmd.Context(), args)
	}
	return spec
}

// named refuses an empty operand where a name is to be: one of the first two. It
// comes from a variable that is not set, most likely.
func named(cmd *cobra.Command, args []string) error {
	for i, arg := range args[:min(len(args), 2)] {
		if arg == "" {
			which := []string{"first", "second"}[i]
			return failure.Hint(failure.Usage("the %s operand of %s is empty: name what it is about", which, cmd.CommandPath()), "see `"+cmd.CommandPath()+" --help`")
		}
	}
	return nil
}

// group returns a command that only has subcommands.
func (c *cli) group(spec *cobra.Command, subcommands ...*cobra.Command) *cobra.Command {
	spec.DisableFlagsInUseLine = true
	spec.Args = unknownCommand
	spec.RunE = func(cmd *cobra.Command, _ []string) error {
		return failure.Hint(failure.Usage("%s needs a subcommand", cmd.CommandPath()), "see `"+cmd.CommandPath()+" --help`")
	}
	spec.AddCommand(subcommands...)
	return spec
}

// unknownCommand is a check of arguments for a command that takes none itself.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := "see `" + cmd.CommandPath() + " --help`"
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 && args[0] != "" {
		best := near[0]
		for _, name := range near {
			if strings.HasPrefix(name, args[0]) {
				best = name
			}
		}
		hint = "did you mean `" + cmd.CommandPath() + " " + best + "`?"
	}
	return failure.Hint(failure.Usage("%s has no command %q", cmd.CommandPath(), args[0]), hint)
}

// operands is a check of arguments: it wants from least to most of them, which
// want names. A negative most is no bound.
func operands(least, most int, want string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) >= least && (most < 0 || len(args) <= most) {
			return nil
		}
		return failure.Hint(failure.Usage("%s wants %s", cmd.CommandPath(), want), "see `"+cmd.CommandPath()+" --help`")
	}
}
