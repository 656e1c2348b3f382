package main

import (
	"context"
	"fmt"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/spf13/cobra"
)

func newDelete(c *cli) *cobra.Command {
	w := &writing{acting: acting{cli: c}}
	cmd := c.command(&cobra.Command{
		Use:   "delete OWNER MAP KEY...",
		Short: "delete keys of a map",
		Long: `Delete keys of a map with all that it has there, as the owner that decides the
keys and all in one commit. What other owners have at a deleted key goes with
it: views no longer show it, and a key of the same name that comes later begins
anew. Where none of the keys is there the answer is "unchanged".`,
		Example:     "  freehold delete creator skills deploy",
		Args:        operands(3, -1, "an OWNER, a MAP and at least one KEY"),
		Annotations: map[string]string{takesNumber: "yes"},
	}, func(ctx context.Context, args []string) error {
		owner, field, keys := args[0], args[1], args[2:]
		return w.commit(ctx, owner, func(d *schema.Declaration) (sidecar.Patch, error) {
			if _, err := lookup(d, owner, field, "delete", args[1:]...); err != nil {
				return nil, err
			}
			return onKeys(d, owner, field, sidecar.VerbDelete, keys)
		})
	})
	w.flags(cmd)
	w.completes(cmd, completeFields(schema.Map, ""))
	return cmd
}

// onKeys returns the patch that carries out verb for whole keys of owner's map.
func onKeys(d *schema.Declaration, owner, field string, verb sidecar.Verb, keys []string) (sidecar.Patch, error) {
	if decider, _ := d.OwnerOf(field); decider != owner {
		return nil, hinted{
			fmt.Errorf("field %s: %w: owner %s decides which keys the map has, and owner %s may not %s one", field, sidecar.ErrNotOwner, decider, owner, verb),
			fmt.Sprintf("`%s` writes as %s", pasted(append([]string{"freehold", string(verb), decider, field}, keys...)...), decider),
		}
	}
	var patch sidecar.Patch
	for _, key := range keys {
		patch = append(patch, sidecar.Op{Field: field, Verb: verb, Key: key})
	}
	return patch, nil
}
