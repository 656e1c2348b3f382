package main

import (
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/spf13/cobra"
)

func newRemove(c *cli) *cobra.Command {
	return newElements(c, sidecar.VerbRemove, &cobra.Command{
		Short: "take elements out of a set",
		Long: `Take elements out of a field of kind set, as its owner and all in one commit.
Where none of them is there the answer is "unchanged".`,
		Example: "  freehold remove tagger labels urgent",
	})
}
