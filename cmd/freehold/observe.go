package main

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// seenVariable is the environment variable that stands in for --seen.
const seenVariable = "FREEHOLD_SEEN"

func newObserve(c *cli) *cobra.Command {
	p := &place{}
	cmd := c.command(&cobra.Command{
		Use:   "observe FIELD...",
		Short: "print a token of what there is to be seen now",
		Long: `Print a token of the versions that the fields have now, at one cut. Of a FIELD
that depends on others, it tells of those. Take it before the data is gathered
from which a value is computed, and give it to the command that writes the
value, as --seen TOKEN or in $FREEHOLD_SEEN: so readers learn whether what the
value depends on has changed since.

The token is one word and needs no quotes. With --json it is an object that
names the versions too.`,
		Example: `  seen=$(freehold observe last_prompt_tokens)   # when the turn starts
  freehold set cost last_prompt_tokens=1234 --seen "$seen"   # when it ends`,
		Args: operands(1, -1, "at least one FIELD"),
	}, func(ctx context.Context, args []string) error {
		view, err := p.view(ctx)
		if err != nil {
			return err
		}
		seen, err := observe(view, args)
		if err != nil {
			return err
		}
		if !c.json {
			return c.print(seen.String() + "\n")
		}
		report := observation{Seen: seen, State: view.State(), Observed: map[string]sidecar.Version{}}
		for _, name := range seen.Fields() {
			report.Observed[name], _ = seen.Version(name)
		}
		return c.printJSON(report)
	})
	p.flags(cmd)
	p.completes(cmd, completeAnyFields)
	return cmd
}

// An observation is what observe prints with --json.
type observation struct {
	Seen     sidecar.Seen               `json:"seen"`
	State    string                     `json:"state"`
	Observed map[string]sidecar.Version `json:"observed"`
}

// observe returns a token of the fields, or of what they depend on. One in the
// middle of a chain is both.
func observe(view *reader.View, fields []string) (sidecar.Seen, error) {
	d := view.Declaration()
	var names []string
	for _, field := range fields {
		f, err := declaredField(view, field)
		if err != nil {
			return sidecar.Seen{}, err
		}
		names = append(names, f.DependsOn...)
		if !f.Dependent() || dependedOn(d, field) {
			names = append(names, field)
		}
	}
	slices.Sort(names)
	return view.Observe(slices.Compact(names)...)
}

// dependedOn reports whether another field depends on field.
func dependedOn(d *schema.Declaration, field string) bool {
	for _, o := range d.Owners {
		for _, f := range o.Fields {
			if slices.Contains(f.DependsOn, field) {
				return true
			}
		}
	}
	return false
}

// completeAnyFields completes any number of operands FIELD.
func completeAnyFields(d *schema.Declaration, _ []string) []string { return completeField(d, nil) }

// A sight is what the writer of a field says to have seen before.
type sight struct {
	token string
	given *pflag.Flag // of token
}

func (s *sight) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.token, "seen", "", "the `TOKEN` of what was seen before the data was gathered; see observe (default $"+seenVariable+")")
	s.given = cmd.Flags().Lookup("seen")
}

// into gives the token to the operations of patch that have none and are on
// fields of o that depend on others. It returns the names of the fields of which
// nobody says what was seen.
func (s *sight) into(patch sidecar.Patch, o schema.Owner) (unobserved []string, err error) {
	if s.given == nil {
		return nil, nil // the command writes no such field
	}
	var dependent []int
	for i, op := range patch {
		if o.Fields[op.Field].Dependent() && op.Verb != sidecar.VerbClear {
			dependent = append(dependent, i)
		}
	}
	token, from := s.token, "--seen"
	if !s.given.Changed {
		token, from = os.Getenv(seenVariable), "$"+seenVariable
	}
	switch {
	case len(dependent) > 0:
	case s.given.Changed:
		return nil, usage("--seen: nothing that is written here depends on what was seen: leave it out")
	default:
		return nil, nil
	}
	var seen sidecar.Seen
	if err := seen.UnmarshalText([]byte(token)); err != nil {
		return nil, fmt.Errorf("%s: %w", from, err)
	}
	for _, i := range dependent {
		if patch[i].Seen.IsZero() {
			patch[i].Seen = seen
		}
		if patch[i].Seen.IsZero() {
			unobserved = append(unobserved, patch[i].Field)
		}
	}
	slices.Sort(unobserved)
	return slices.Compact(unobserved), nil
}
