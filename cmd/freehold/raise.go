package main

import (
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/spf13/cobra"
)

func newRaise(c *cli) *cobra.Command {
	return newOperation(c, operation{
		verb:    sidecar.VerbRaise,
		kind:    schema.Max,
		operand: "VALUE",
		short:   "move a max field up",
		long: `Move a field of kind max up to VALUE, as its owner. Where it is there or beyond
already nothing is written and the answer is "unchanged", with the value that
stays. Instants compare as instants, whatever their offsets.`,
		example: "  freehold raise reset last_context_reset_at 2026-08-11T09:12:44.031Z",
	})
}
