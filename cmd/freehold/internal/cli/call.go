// Package cli is one call of the program freehold: its command line, and the flags
// that several commands share. It decides nothing about a state.
package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/freehold-dev/freehold/cmd/internal/console"
	"github.com/freehold-dev/freehold/cmd/internal/display"
	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/schema/declare"
	"github.com/freehold-dev/freehold/sidecar/adopt"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// A Call is one call of the program.
type Call struct {
	console.Console
	unwritten error // from printing the help that --help asks for
}

// Run runs the command line args below root, prints the error, and returns the
// exit status.
func (c *Call) Run(ctx context.Context, root *cobra.Command, args []string) int {
	display.ASCII = c.Bytewise()
	root.SetArgs(args)
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { c.unwritten = c.Print(Help(cmd)) })
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil && c.Given == nil {
		err = misused(cmd, err)
	}
	if err == nil {
		err = c.unwritten
	}
	return c.End(err)
}

// End writes err to standard error and returns the exit status.
func (c *Call) End(err error) int {
	if c.JSON {
		if _, ok := errors.AsType[declare.Problems](err); ok {
			err = failure.As(err, failure.Misused)
		}
		if _, ok := errors.AsType[adopt.Misfits](err); ok {
			err = failure.As(err, failure.Misused)
		}
		return c.Console.End(err)
	}
	return c.Console.End(c.located(err))
}

// located writes the lines of an error that consists of several, and returns
// their sum. The mistakes of a declaration, and the values of a legacy file that
// fit no field, begin with their position, where editors look for it.
func (c *Call) located(err error) error {
	if problems, ok := errors.AsType[declare.Problems](err); ok {
		var files []string
		for _, p := range problems {
			fmt.Fprintln(c.Stderr, display.Escape(p.Error()))
			files = append(files, p.File)
		}
		return failure.Usage("%s in %s: nothing was changed",
			display.Count(len(problems), "mistake", "mistakes"), strings.Join(slices.Compact(files), ", "))
	}
	if misfits, ok := errors.AsType[adopt.Misfits](err); ok {
		for _, m := range misfits {
			fmt.Fprintln(c.Stderr, display.Escape(m.Error()))
		}
		return failure.Usage("%s in %s: nothing was changed", display.Count(len(misfits), "value does not fit", "values do not fit"), misfits[0].File)
	}
	return err
}

// misused marks an error from the parsing of cmd's command line.
func misused(cmd *cobra.Command, err error) error {
	if !errors.Is(err, failure.Misused) {
		err = failure.As(err, failure.Misused)
	}
	if len(store.Remedies(err)) > 0 {
		return err
	}
	_, words, _ := strings.Cut(cmd.CommandPath()+" --help", " ")
	return store.WithRemedy(err, store.Remedy{Verb: store.Verb(words)})
}

// Help returns the help of cmd.
func Help(cmd *cobra.Command) string {
	text := cmd.Long
	if text == "" {
		text = cmd.Short
	}
	return text + "\n\n" + cmd.UsageString()
}

// A Work is the work of one command.
type Work func(ctx context.Context, args []string) error

// Command completes spec, which runs work.
func (c *Call) Command(spec *cobra.Command, work Work) *cobra.Command {
	spec.DisableFlagsInUseLine = true
	spec.RunE = func(cmd *cobra.Command, args []string) error {
		c.Given = map[string]string{}
		cmd.Flags().Visit(func(f *pflag.Flag) { c.Given[f.Name] = f.Value.String() })
		if err := named(cmd, args); err != nil {
			return err
		}
		return work(cmd.Context(), args)
	}
	return spec
}

// named refuses an empty name among the first two operands, which most likely
// comes from a variable that is not set.
func named(cmd *cobra.Command, args []string) error {
	for i, arg := range args[:min(len(args), 2)] {
		if arg == "" {
			return misused(cmd, failure.Usage("%s: the %s operand is empty", cmd.CommandPath(), []string{"first", "second"}[i]))
		}
	}
	return nil
}

// Group completes spec, which only has subcommands.
func (c *Call) Group(spec *cobra.Command, subcommands ...*cobra.Command) *cobra.Command {
	spec.DisableFlagsInUseLine = true
	spec.Args = UnknownCommand
	spec.RunE = func(cmd *cobra.Command, _ []string) error {
		return misused(cmd, failure.Usage("%s needs a subcommand", cmd.CommandPath()))
	}
	spec.AddCommand(subcommands...)
	return spec
}

// UnknownCommand is a check of arguments for a command that takes none itself.
func UnknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	err := failure.Usage("%s has no command %q", cmd.CommandPath(), args[0])
	cmd.SuggestionsMinimumDistance = 2
	near := cmd.SuggestionsFor(args[0])
	if len(near) == 0 || args[0] == "" {
		return misused(cmd, err)
	}
	begins := slices.IndexFunc(near, func(name string) bool { return strings.HasPrefix(name, args[0]) })
	return store.WithRemedy(err, store.Remedy{Note: "did you mean " + cmd.CommandPath() + " " + near[max(begins, 0)] + "?"})
}

// Operands returns a check of arguments: from least to most of them, which want
// names. A negative most is no bound.
func Operands(least, most int, want string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) >= least && (most < 0 || len(args) <= most) {
			return nil
		}
		return misused(cmd, failure.Usage("%s wants %s", cmd.CommandPath(), want))
	}
}
