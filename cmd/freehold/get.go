package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/schema"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func newGet(c *cli) *cobra.Command {
	g := &get{cli: c}
	cmd := c.command(&cobra.Command{
		Use:   "get FIELD",
		Short: "print the value of a field",
		Long: `Print the value of a field as text, or with --json as the JSON that stands in
the sidecar. Control characters are printed as escapes; --json keeps the value
exact.

--default stands in for a field that is unset, and for nothing else: a field
that nobody declares (exit status 4), an owner whose sidecar cannot be used (3)
and a missing state (64) stay errors. Unset without --default is 1.`,
		Example: `  freehold get context_cleared
  freehold get turns --default 0`,
		Args: operands(1, 1, "a FIELD"),
	}, func(ctx context.Context, args []string) error { return g.show(ctx, args[0]) })
	g.place.flags(cmd)
	cmd.Flags().StringVar(&g.stand, "default", "", "print this `VALUE` for a field that is unset")
	g.stands = cmd.Flags().Lookup("default")
	g.completes(cmd, completeField)
	return cmd
}

// A get is one call of get.
type get struct {
	*cli
	place
	stand  string      // what stands in for unset
	stands *pflag.Flag // whether anything does
}

// show prints the field, or what stands in for it.
func (g *get) show(ctx context.Context, field string) error {
	view, err := g.view(ctx)
	if err != nil {
		return err
	}
	f, err := declaredField(view, field)
	if err != nil {
		return err
	}
	var stand jsontext.Value
	if g.stands.Changed {
		if stand, err = f.Parse(g.stand); err != nil {
			return usage("--default: field %s: %v", field, err)
		}
	}
	raw, err := view.Field(field).Raw()
	if errors.Is(err, reader.ErrUnset) && stand != nil {
		raw, err = stand, nil
	}
	if err != nil {
		return err
	}
	if g.json {
		return g.print(string(visibleJSON(raw)) + "\n")
	}
	return g.print(visible(f.Text(raw)) + "\n")
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
	if owner, ok := d.OwnerOf(name); ok {
		return d.Owners[owner].Fields[name], nil
	}
	return schema.Field{}, hinted{
		classed{fmt.Errorf("no owner of state %s declares the field %q", d.State, name), reader.ErrUnknownField},
		"`freehold view` lists the fields",
	}
}
