package verbs

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
)

// seenVariable is the environment variable that stands in for --seen.
const seenVariable = "FREEHOLD_SEEN"

// An observeReport is the answer of observe.
type observeReport struct {
	Seen     sidecar.Seen               `json:"seen"`
	State    string                     `json:"state"`
	Observed map[string]sidecar.Version `json:"observed"`
}

func (r observeReport) Text(bool) string { return r.Seen.String() + "\n" }

// observe makes the token of the fields that the operands name.
func observe(ctx context.Context, c *Call) (Report, error) {
	view, err := c.View(ctx)
	if err != nil {
		return nil, err
	}
	seen, err := observed(view, c.Args)
	if err != nil {
		return nil, err
	}
	r := observeReport{Seen: seen, State: view.State(), Observed: map[string]sidecar.Version{}}
	for _, name := range seen.Fields() {
		r.Observed[name], _ = seen.Version(name)
	}
	return r, nil
}

// observed returns a token of the fields, or of their dependencies. A field in the
// middle of a chain is both.
func observed(view *reader.View, fields []string) (sidecar.Seen, error) {
	d := view.Declaration()
	var names []string
	for _, field := range fields {
		_, f, err := Declared(view, field)
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

// addSeen gives the token of --seen to the operations of patch that have none and
// are on dependent fields of o. It returns the names of the fields that are written
// without any.
func (c *Call) addSeen(patch sidecar.Patch, o schema.Owner) (unobserved []string, err error) {
	if !slices.ContainsFunc(c.Verb.Flags, func(f Flag) bool { return f.Name == seenFlag.Name }) {
		return nil, nil // the verb writes no such field
	}
	token, given := c.Flags[seenFlag.Name]
	from := "--seen"
	if !given {
		token, from = os.Getenv(seenVariable), "$"+seenVariable
	}
	var dependent []int
	for i, op := range patch {
		if o.Fields[op.Field].Dependent() && op.Verb != schema.VerbClear {
			dependent = append(dependent, i)
		}
	}
	switch {
	case len(dependent) > 0:
	case given:
		return nil, failure.Usage("--seen: no field that is written here depends on others: leave --seen out")
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
