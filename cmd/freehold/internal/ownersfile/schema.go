package ownersfile

import (
	"context"
	"fmt"

	"github.com/freehold-dev/freehold/cmd/freehold/internal/cli"
	"github.com/freehold-dev/freehold/cmd/internal/display"
	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/cmd/internal/verbs"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/schema/declare"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/spf13/cobra"
)

func newSchema(c *cli.Call) *cobra.Command {
	p, owners := &cli.Place{}, &Flag{}
	cmd := c.Command(&cobra.Command{
		Use:   "schema [OWNER|view|owners]",
		Short: "print JSON schemas",
		Long: `Print the JSON Schema of an owner's sidecar, of the output of "freehold view --json"
(the default), or of owners.yaml. The declaration is that of the state directory, or
of the owners.yaml in --owners.`,
		Example: `  freehold schema reset --owners owners/runtime/owners.yaml
  freehold schema owners > owners.schema.json`,
		Args: cli.Operands(0, 1, "an OWNER, view or owners"),
	}, func(_ context.Context, args []string) error {
		text, err := schemaOf(p, owners, append(args, "view")[0])
		if err != nil {
			return err
		}
		return c.Print(string(display.EscapeJSON(text)))
	})
	p.Flags(cmd)
	owners.Add(cmd, "take the declaration from the owners.yaml `FILE`, not from a state")
	p.Completes(cmd, func(t verbs.Typing) []string {
		if len(t.Args) > 0 {
			return nil
		}
		return append(verbs.Operands("OWNER").Complete(t), "view\tthe view of all owners", "owners\towners.yaml itself")
	})
	return cmd
}

// schemaOf returns the schema of an owner, "view" or "owners".
func schemaOf(p *cli.Place, owners *Flag, name string) ([]byte, error) {
	if name == "owners" {
		return schema.OwnersSchema, nil
	}
	declaration, err := declarationOf(p, owners)
	if err != nil {
		return nil, err
	}
	if name == "view" {
		return declare.ViewSchema(declaration)
	}
	if _, ok := declaration.Owners[name]; !ok {
		return nil, store.WithRemedy(
			failure.As(fmt.Errorf("state %s has no owner %q", declaration.State, name), store.NotOwner),
			store.Remedy{Note: schema.DidYouMean(name, "its owners are", declaration.OwnerNames())},
		)
	}
	return declare.SidecarSchema(declaration, name)
}

// declarationOf returns the declaration in the owners.yaml that the caller names,
// or else the one of the state.
func declarationOf(p *cli.Place, owners *Flag) (*schema.Declaration, error) {
	if !owners.Given() {
		return p.Declaration()
	}
	source, err := owners.Read()
	if err != nil {
		return nil, err
	}
	return source.Declaration, nil
}
