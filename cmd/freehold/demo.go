package main

import (
	"context"
	"errors"
	"os"

	"github.com/freehold-dev/freehold/cmd/freehold/internal/demo"
	"github.com/spf13/cobra"
)

func newDemo(c *cli) *cobra.Command {
	return c.command(&cobra.Command{
		Use:   "demo",
		Short: "show it off: races, the compiler's refusal, a view",
		Long: `Run an agent's hooks as concurrent processes, the old way and through Freehold,
and count what is lost: with an owner for each field, with copies of one hook of
which one is to look things up, and with processes that count in one place. Let
the Go toolchain refuse a program that writes another owner's field, and print
the view that is left. It needs the source of
Freehold and the Go toolchain, changes nothing in there, and keeps what it
makes in a new directory below the one for temporary files. The exit status is
1 if Freehold loses anything.`,
		Example: `  freehold demo
  freehold demo --json | jq .old_way.lost`,
		Args: operands(0, 0, "no operands"),
	}, func(ctx context.Context, _ []string) error {
		self, err := os.Executable()
		if err != nil {
			return err
		}
		options := demo.Options{Self: self, Visible: visible}
		if !c.json {
			options.Print = c.print
			if options.Width, options.Colour = c.terminal(); options.Colour {
				options.Print = c.styled
			}
		}
		report, err := demo.Play(ctx, options)
		if c.json && report.Dir != "" {
			err = errors.Join(c.printJSON(report), err)
		}
		return ofDemo(err)
	})
}

// ofDemo gives an error of the demo its exit status.
func ofDemo(err error) error {
	switch {
	case errors.Is(err, demo.ErrElsewhere):
		return classed{err, errUsage}
	case errors.Is(err, demo.ErrBroken):
		return classed{err, errNegative}
	}
	return err
}
