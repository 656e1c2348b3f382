package main

import (
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/spf13/cobra"
)

func newAdd(c *cli) *cobra.Command {
	return newOperation(c, operation{
		verb:    sidecar.VerbAdd,
		kind:    schema.Counter,
		operand: "N",
		short:   "add to a counter",
		long: `Add N, which may be negative, to a field of kind counter, as its owner. Sums
are exact; one that does not fit the field's type is refused. An unset counter
counts from zero.`,
		example: `  freehold add cost total_usd 0.25
  freehold add cost total_usd -0.25`,
	})
}
