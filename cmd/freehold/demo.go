package main

import (
	"context"
	"errors"
	"os"

	"github.com/freehold-dev/freehold/cmd/freehold/internal/cli"
	"github.com/freehold-dev/freehold/cmd/freehold/internal/demo"
	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/spf13/cobra"
)

func newDemo(c *cli.Call) *cobra.Command {
	return c.Command(&cobra.Command{
		Use:   "demo",
		Short: "show three accidents with shared state, and how each one ends",
		Long: `Play three scenes with real processes, the old way and then with Freehold: ten
programs that count in one file lose each other's counts; a guard acts on a
measurement that was overtaken; a signal for a crashed daemon ends its
successor. Every figure is measured in this run. If Go is there, its refusal to
compile a write to another owner's field is shown too.

The scenes take a few seconds on Linux and need the programs sh, awk, cat, mv,
sleep and wc. The demo works in a temporary directory and removes the directory
at the end. The exit status is 1 if Freehold did not keep a promise; then the
directory stays.`,
		Example: `  freehold demo
  freehold demo --json`,
		Args: cli.Operands(0, 0, "no operands"),
	}, func(ctx context.Context, _ []string) error {
		self, err := os.Executable()
		if err != nil {
			return err
		}
		options := demo.Options{Self: self, Print: c.Styled}
		if c.JSON {
			options.Print = nil
		}
		report, err := demo.Play(ctx, options)
		if c.JSON {
			err = errors.Join(c.PrintJSON(report), err)
		}
		return classDemo(err)
	})
}

// classDemo gives a broken promise its exit status.
func classDemo(err error) error {
	if errors.Is(err, demo.ErrBroken) {
		return failure.As(err, failure.Negative)
	}
	return err
}
