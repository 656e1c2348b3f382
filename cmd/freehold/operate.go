package main

import (
	"context"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/spf13/cobra"
)

// An operation is a command that applies one number, instant or duration to
// one field.
type operation struct {
	verb    sidecar.Verb
	kind    schema.Kind
	operand string // its name in the usage
	short   string
	long    string
	example string
}

// newOperation returns the command of o.
func newOperation(c *cli, o operation) *cobra.Command {
	w := &writing{acting: acting{cli: c}}
	verb := string(o.verb)
	cmd := c.command(&cobra.Command{
		Use:         verb + " OWNER FIELD " + o.operand,
		Short:       o.short,
		Long:        o.long,
		Example:     o.example,
		Args:        operands(3, 3, "an OWNER, a FIELD and "+o.operand),
		Annotations: map[string]string{takesNumber: "yes"},
	}, func(ctx context.Context, args []string) error {
		owner, field, text := args[0], args[1], args[2]
		return w.commit(ctx, owner, func(d *schema.Declaration) (sidecar.Patch, error) {
			f, err := lookup(d, owner, field, verb, field, text)
			if err != nil {
				return nil, err
			}
			raw, err := parse(owner, field, f, text)
			if err != nil {
				return nil, err
			}
			return sidecar.Patch{{Field: field, Verb: o.verb, Value: raw}}, nil
		})
	})
	w.flags(cmd)
	w.sight.flags(cmd)
	w.completes(cmd, completeFields(o.kind, ""))
	return cmd
}
