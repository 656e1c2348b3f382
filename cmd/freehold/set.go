package main

import (
	"context"
	"strings"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/spf13/cobra"
)

func newSet(c *cli) *cobra.Command {
	w := &writing{acting: acting{cli: c}}
	cmd := c.command(&cobra.Command{
		Use:   "set OWNER FIELD=VALUE...",
		Short: "give fields values",
		Long: `Give fields of kind value new values, as their owner and all in one commit.

A value is read by the field's declared type: true or false; an integer; a
number; a decimal such as 12.50; text; an instant such as
2026-08-11T09:12:44.031Z; a duration such as 1m30s; one of an enum's values.
Where every field has its value already, nothing is written and the answer is
"unchanged".`,
		Example: `  freehold set reset context_cleared=true
  freehold set reset context_cleared=true --program my-hook --json`,
		Args: operands(2, -1, "an OWNER and at least one FIELD=VALUE"),
	}, func(ctx context.Context, args []string) error {
		owner, assignments := args[0], args[1:]
		if err := readable(owner, assignments); err != nil {
			return err
		}
		return w.commit(ctx, owner, func(d *schema.Declaration) (sidecar.Patch, error) {
			return assign(d, owner, assignments)
		})
	})
	w.flags(cmd)
	w.sight.flags(cmd)
	w.completes(cmd, completeFields(schema.Value, "="))
	return cmd
}

// readable refuses operands that are no OWNER and no FIELD=VALUE, before anything
// is asked of the state.
func readable(owner string, assignments []string) error {
	if strings.Contains(owner, "=") {
		return usage("%q is no OWNER: name the owner before its fields", owner)
	}
	for _, assignment := range assignments {
		field, _, ok := strings.Cut(assignment, "=")
		switch {
		case !ok:
			return usage("%q is no FIELD=VALUE: put a = between the two, and no blanks", assignment)
		case field == "" || field != strings.TrimSpace(field):
			return usage("%q is no FIELD=VALUE: write the three as one word, without blanks around the =", assignment)
		}
	}
	return nil
}

// assign turns FIELD=VALUE operands into a patch.
func assign(d *schema.Declaration, owner string, assignments []string) (sidecar.Patch, error) {
	var patch sidecar.Patch
	given := map[string]bool{}
	for _, assignment := range assignments {
		field, text, _ := strings.Cut(assignment, "=")
		if given[field] {
			return nil, usage("field %q is given two values: give it one", field)
		}
		given[field] = true
		f, err := lookup(d, owner, field, "set", assignment)
		if err != nil {
			return nil, err
		}
		raw, err := parse(owner, field, f, text)
		if err != nil {
			return nil, err
		}
		patch = append(patch, sidecar.Op{Field: field, Verb: sidecar.VerbSet, Value: raw})
	}
	return patch, nil
}
