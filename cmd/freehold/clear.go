package main

import (
	"context"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/spf13/cobra"
)

func newClear(c *cli) *cobra.Command {
	w := &writing{acting: acting{cli: c}}
	cmd := c.command(&cobra.Command{
		Use:   "clear OWNER FIELD...",
		Short: "make fields unset",
		Long: `Make fields of kind value unset, as their owner and all in one commit. Unset
differs from zero, false and the empty text. What a map has at a key is cleared by
"freehold apply", member by member, or goes with its key by "freehold delete".`,
		Example: "  freehold clear reset context_cleared",
		Args:    operands(2, -1, "an OWNER and at least one FIELD"),
	}, func(ctx context.Context, args []string) error {
		owner, fields := args[0], args[1:]
		return w.commit(ctx, owner, func(d *schema.Declaration) (sidecar.Patch, error) {
			var patch sidecar.Patch
			for _, field := range fields {
				if _, err := lookup(d, owner, field, "clear", field); err != nil {
					return nil, err
				}
				patch = append(patch, sidecar.Op{Field: field, Verb: sidecar.VerbClear})
			}
			return patch, nil
		})
	})
	w.flags(cmd)
	w.completes(cmd, completeFields(schema.Value, ""))
	return cmd
}
