package main

import (
	"context"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/spf13/cobra"
)

func newInsert(c *cli) *cobra.Command {
	return newElements(c, sidecar.VerbInsert, &cobra.Command{
		Short: "put elements into a set, or keys into a map",
		Long: `Put elements into a field of kind set, as its owner and all in one commit. What
is in the set already stays, and where nothing is new the answer is
"unchanged". A VALUE is read by the type of the set's elements.

Of a map whose members are declared, each VALUE is a key, which is created
without members unless it is there; only the owner that decides the keys may.`,
		Example: `  freehold insert tagger labels urgent "needs review"
  freehold insert creator skills deploy`,
	})
}

// newElements completes the command spec, which carries out verb for each of
// its values.
func newElements(c *cli, verb sidecar.Verb, spec *cobra.Command) *cobra.Command {
	w := &writing{acting: acting{cli: c}}
	spec.Use = string(verb) + " OWNER FIELD VALUE..."
	spec.Args = operands(3, -1, "an OWNER, a FIELD and at least one VALUE")
	spec.Annotations = map[string]string{takesNumber: "yes"}
	cmd := c.command(spec, func(ctx context.Context, args []string) error {
		owner, field, values := args[0], args[1], args[2:]
		return w.commit(ctx, owner, func(d *schema.Declaration) (sidecar.Patch, error) {
			f, err := lookup(d, owner, field, string(verb), args[1:]...)
			if err != nil {
				return nil, err
			}
			if f.EffectiveKind() == schema.Map {
				return onKeys(d, owner, field, verb, values)
			}
			return onElements(owner, field, f, verb, values)
		})
	})
	w.flags(cmd)
	w.completes(cmd, completeFields(schema.Set, ""))
	return cmd
}

// onElements returns the patch that carries out verb for elements of a set.
func onElements(owner, field string, f schema.Field, verb sidecar.Verb, values []string) (sidecar.Patch, error) {
	element, _ := f.Element()
	var patch sidecar.Patch
	for _, text := range values {
		raw, err := parse(owner, field, element, text)
		if err != nil {
			return nil, err
		}
		patch = append(patch, sidecar.Op{Field: field, Verb: verb, Value: raw})
	}
	return patch, nil
}
