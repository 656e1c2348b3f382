// Package leases has the commands about the leases of exclusive owners.
package leases

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/freehold-dev/freehold/cmd/freehold/internal/cli"
	"github.com/freehold-dev/freehold/cmd/internal/lease"
	"github.com/freehold-dev/freehold/cmd/internal/verbs"
	"github.com/freehold-dev/freehold/schema"
)

// Commands returns the commands about leases.
func Commands(c *cli.Call) []*cobra.Command {
	return []*cobra.Command{newLease(c), newRetire(c)}
}

func newLease(c *cli.Call) *cobra.Command {
	w := &cli.Writing{Call: c}
	call := &lease.Call{Console: &c.Console, Place: &w.Place.Place, Writing: &w.Writing}
	var cmd *cobra.Command
	cmd = c.Command(&cobra.Command{
		Use:     lease.Use,
		Short:   lease.Short,
		Long:    lease.Long,
		Example: lease.Example,
		Args: func(cmd *cobra.Command, args []string) error {
			if dash := cmd.ArgsLenAtDash(); dash == 1 {
				return cli.Operands(2, -1, lease.WantsCommand)(cmd, args)
			}
			return cli.Operands(1, 1, lease.WantsOwner)(cmd, args)
		},
	}, func(ctx context.Context, args []string) error {
		return call.Run(ctx, args[0], args[1:])
	})
	w.Place.Flags(cmd)
	cmd.Flags().StringVar(&w.Program, "program", "", "the `NAME` of the holder in the record (default freehold)")
	cli.AddWait(cmd, &w.Wait, "wait at most `DURATION` for other processes (default: at a shut fence for good, for a lease not at all)")
	w.Completes(cmd, completeExclusive)
	return cmd
}

// completeExclusive completes the one operand OWNER of a command about leases.
func completeExclusive(t verbs.Typing) []string {
	if len(t.Args) > 0 {
		return nil
	}
	return slices.DeleteFunc(verbs.Operands("OWNER").Complete(t), func(offer string) bool {
		name, _, _ := strings.Cut(offer, "\t")
		return t.Declaration.Owners[name].EffectiveMode() != schema.Exclusive
	})
}
