package main

import (
	"context"

	"github.com/freehold-dev/freehold/sidecar"
	"github.com/spf13/cobra"
)

func newQuarantine(c *cli) *cobra.Command {
	r := &repair{cli: c}
	cmd := c.command(&cobra.Command{
		Use:   "quarantine OWNER",
		Short: "move a sidecar that cannot be used aside",
		Long: `Move what stands in the place of OWNER's sidecar, whatever it is, to
.freehold/quarantine, where nothing reads it, and print its new path. The
owner's fields are unset afterwards.`,
		Example: "  freehold quarantine reset",
		Args:    operands(1, 1, "an OWNER"),
	}, func(ctx context.Context, args []string) error {
		dir, options, err := r.prepare()
		if err != nil {
			return err
		}
		path, err := sidecar.Quarantine(ctx, dir, args[0], options)
		if err != nil {
			return unacceptable(err)
		}
		return c.report(quarantineReport{args[0], path}, visible(path)+"\n")
	})
	r.flags(cmd)
	r.completes(cmd, completeOwner)
	return cmd
}

type quarantineReport struct {
	Owner string `json:"owner"`
	Path  string `json:"path"`
}
