package main

import (
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/spf13/cobra"
)

func newLower(c *cli) *cobra.Command {
	return newOperation(c, operation{
		verb:    sidecar.VerbLower,
		kind:    schema.Min,
		operand: "VALUE",
		short:   "move a min field down",
		long: `Move a field of kind min down to VALUE, as its owner. Where it is there or
below already nothing is written and the answer is "unchanged", with the value
that stays.`,
		example: "  freehold lower worker fastest_run 1m30s",
	})
}
