package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/freehold-dev/freehold/cmd/internal/display"
	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/schema/declare"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/spf13/cobra"
)

func newSchema(c *cli) *cobra.Command {
	p, d := &place{}, &declared{cli: c}
	cmd := c.command(&cobra.Command{
		Use:   "schema [OWNER|view|owners]",
		Short: "print JSON schemas",
		Long: `Print the JSON Schema of an owner's sidecar; of what "freehold view --json"
prints, which is the default; or of owners.yaml itself. The declaration is that
of the state directory, or of the owners.yaml in --owners.`,
		Example: `  freehold schema reset --owners owners/runtime/owners.yaml
  freehold schema owners > owners.schema.json`,
		Args: operands(0, 1, "an OWNER, view or owners"),
	}, func(_ context.Context, args []string) error {
		return c.printSchema(schemaOf(p, d, strings.Join(append(args, "view")[:1], "")))
	})
	p.flags(cmd)
	cmd.Flags().StringVar(&d.file, "owners", "", "take the declaration from the owners.yaml `FILE`, not from a state")
	d.mark(cmd)
	p.completes(cmd, func(declaration *schema.Declaration, args []string) []string {
		if len(args) > 0 {
			return nil
		}
		return append(declaration.OwnerNames(), "view", "owners")
	})
	return cmd
}

// schemaOf returns the schema with the name what: an owner, view or owners.
func schemaOf(p *place, d *declared, what string) ([]byte, error) {
	if what == "owners" {
		return declare.OwnersSchema()
	}
	declaration, err := declarationOf(p, d)
	if err != nil {
		return nil, err
	}
	if what == "view" {
		return declare.ViewSchema(declaration)
	}
	if _, ok := declaration.Owners[what]; !ok {
		return nil, failure.Hint(
			failure.As(fmt.Errorf("state %s has no owner %q", declaration.State, what), sidecar.ErrNotOwner),
			"its owners are "+strings.Join(declaration.OwnerNames(), ", "),
		)
	}
	return declare.SidecarSchema(declaration, what)
}

// declarationOf returns the declaration in the file that d names, or else the
// one of the state directory p.
func declarationOf(p *place, d *declared) (*schema.Declaration, error) {
	if !d.flag.Changed {
		return p.declaration()
	}
	source, err := d.one()
	if err != nil {
		return nil, err
	}
	return source.Declaration, nil
}

func (c *cli) printSchema(text []byte, err error) error {
	if err != nil {
		return err
	}
	return c.print(string(display.EscapeJSON(text)))
}
