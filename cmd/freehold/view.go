package main

import (
	"context"
	"errors"

	"github.com/freehold-dev/freehold/cmd/freehold/internal/cli"
	"github.com/spf13/cobra"
)

func newView(c *cli.Call) *cobra.Command {
	p := &cli.Place{}
	s := selection{Call: c}
	cmd := c.Command(&cobra.Command{
		Use:   "view",
		Short: "print all fields, and how old and how fresh they are",
		Long: `Print the union of all owners' fields at one cut, each with its owner, its age by
this machine's clock, the version of the commit that changed it last, and, if it
depends on others, whether it is fresh. Nothing is locked and nothing is written.
Where the sidecar of an owner cannot be used, the others are printed all the same
and the exit status is 3.

With --stale, print only fields that are stale, ambiguous or unknown; the exit
status is 1 if there are any.

A terminal that is too narrow for the table ($COLUMNS, if set, says how wide it
is) gets shorter versions, then none, then a paragraph for each field, which also
says which program wrote it. Where the locale has no UTF-8, the lines of the table
are of plain characters. --json and a pipe get everything, and "freehold
explain" tells all of one field.`,
		Example: `  freehold view
  freehold view --owner cost
  freehold view --stale && echo "nothing is out of date"
  freehold view --json | jq .fields`,
		Args: cli.Operands(0, 0, "no operands"),
	}, func(ctx context.Context, _ []string) (err error) {
		if s.view, err = p.View(ctx); err != nil {
			return err
		}
		if err := s.check(); err != nil {
			return err
		}
		if c.JSON {
			err = c.PrintJSON(s)
		} else {
			err = printView(c, s)
		}
		return errors.Join(err, s.broken(), s.unfresh())
	})
	p.Flags(cmd)
	s.flag = ownerFlag(p, cmd, &s.owner)
	cmd.Flags().BoolVar(&s.stale, "stale", false, "only fields that are stale, ambiguous or unknown")
	return cmd
}
