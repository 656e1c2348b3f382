package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/reader/explain"
	"github.com/freehold-dev/freehold/schema"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func newGet(c *cli) *cobra.Command {
	g := &get{cli: c}
	cmd := c.command(&cobra.Command{
		Use:   "get FIELD [KEY [MEMBER]]",
		Short: "print the value of a field",
		Long: `Print the value of a field as text, or with --json as the JSON that stands in
the sidecar. A pipe or a file gets the value as it is; on a terminal its control
characters are printed as escapes. A value with parts (a list, a record, a set, a
map, any JSON) is printed as JSON in both cases. Of a map, that is what all its
owners have, joined by key; KEY and MEMBER name a part of it.

--default stands in for what is unset, and for nothing else: a field that nobody
declares (exit status 4), an owner whose sidecar cannot be used (3) and a
missing state (64) stay errors. Unset without --default is 1, and so is a key
that is not there.

With --require-fresh a value that is stale, ambiguous or unknown is not printed:
the exit status is 1, and standard error says why. So who acts on a value acts on
nothing that was overtaken. A field that depends on nothing is always fresh.`,
		Example: `  freehold get context_cleared
  freehold get turns --default 0
  freehold get skills deploy use_count
  freehold get last_prompt_tokens --require-fresh`,
		Args:        operands(1, 3, "a FIELD, and for a map perhaps a KEY and a MEMBER"),
		Annotations: map[string]string{takesNumber: "yes"},
	}, g.show)
	g.place.flags(cmd)
	cmd.Flags().StringVar(&g.stand, "default", "", "print this `VALUE` for what is unset")
	g.stands = cmd.Flags().Lookup("default")
	cmd.Flags().BoolVar(&g.fresh, "require-fresh", false, "print nothing that is stale, ambiguous or unknown")
	g.completes(cmd, completeField)
	return cmd
}

// A get is one call of get.
type get struct {
	*cli
	place
	stand  string      // what stands in for unset
	stands *pflag.Flag // whether anything does
	fresh  bool        // nothing else is printed
}

// show prints what path names, a field or a part of a map, or what stands in
// for it.
func (g *get) show(ctx context.Context, path []string) error {
	view, err := g.view(ctx)
	if err != nil {
		return err
	}
	f, err := declaredField(view, path[0])
	if err != nil {
		return err
	}
	entry := view.Field(path[0])
	if len(path) > 1 {
		if f, err = declaredPart(view, f, path); err != nil {
			return err
		}
		entry = entry.Key(path[1])
	}
	if len(path) > 2 {
		entry = entry.Member(path[2])
	}
	var stand jsontext.Value
	if g.stands.Changed {
		if stand, err = f.Parse(g.stand); err != nil {
			return usage("--default: field %s: %v", strings.Join(path, " "), err)
		}
	}
	raw, err := entry.Raw()
	switch {
	case errors.Is(err, reader.ErrUnset) && stand != nil:
		raw = stand // which was computed from nothing
	case err != nil:
		return err
	case g.fresh:
		if err := fresh(view, path[0]); err != nil {
			return err
		}
	}
	for _, p := range explain.Unshown(view, path[0]) {
		g.say("warning", unshown(path[0], p))
	}
	if g.json {
		return g.print(string(visibleJSON(raw)) + "\n")
	}
	_, eyes := g.terminal()
	return g.print(typed(f, raw, eyes) + "\n")
}

// unshown returns the warning about pending patches that a view does not show.
func unshown(field string, p explain.PendingProblem) string {
	return fmt.Sprintf("%s may have another value: owner %s has %s, not all of which can be shown: %s",
		field, p.Owner, count(p.Patches, "pending patch", "pending patches"), onOneLine(withRemedies(p.Err)))
}

// fresh is the negative answer if a field is not fresh.
func fresh(view *reader.View, field string) error {
	f := view.Field(field).Freshness()
	if f.Fresh() {
		return nil
	}
	return hinted{
		classed{fmt.Errorf("field %s is %s (%s): %s", field, f.Verdict, f.Reason, f), errNegative},
		"`freehold explain " + field + "` says more",
	}
}

// view takes one view of the state directory.
func (p *place) view(ctx context.Context) (*reader.View, error) {
	dir, err := p.find()
	if err != nil {
		return nil, err
	}
	r, err := reader.Open(dir)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return r.View(ctx)
}

// declaredField returns the declaration of a field.
func declaredField(view *reader.View, name string) (schema.Field, error) {
	d := view.Declaration()
	if f, ok := d.Joined(name); ok {
		return f, nil
	}
	return schema.Field{}, hinted{
		classed{fmt.Errorf("no owner of state %s declares the field %q", d.State, name), reader.ErrUnknownField},
		"`freehold view` lists the fields",
	}
}

// declaredPart returns the declaration of what the map f has at a key, or of a
// member of that. path names it.
func declaredPart(view *reader.View, f schema.Field, path []string) (schema.Field, error) {
	if f.EffectiveKind() != schema.Map {
		return schema.Field{}, classed{fmt.Errorf("field %s is a %s and has no keys: leave the key out", path[0], called(f)), reader.ErrUnknownField}
	}
	if f.Value != nil && len(path) == 2 {
		return *f.Value, nil
	}
	if len(path) == 2 {
		return schema.Field{Type: schema.TypeRecord, Fields: f.Record}, nil
	}
	if member, ok := f.Record[path[2]]; ok {
		return member, nil
	}
	members := "what it has at a key has no members: leave the member out"
	if names := f.MemberNames(); len(names) > 0 {
		members = "its members are " + strings.Join(names, ", ")
	}
	return schema.Field{}, hinted{
		classed{fmt.Errorf("no owner of state %s declares the member %q of field %s", view.State(), path[2], path[0]), reader.ErrUnknownField},
		members,
	}
}
