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
	as, patch := "", false
	cmd := c.Command(&cobra.Command{
		Use:   "schema [OWNER|view|owners]",
		Short: "print JSON schemas",
		Long: `Print the JSON Schema of an owner's sidecar, of the output of "freehold view --json"
(the default), or of owners.yaml. The declaration is that of the state directory, or
of the owners.yaml in --owners.

With --patch it is the schema of a patch of the owner, as "freehold apply OWNER" takes
it: closed, so that any validator refuses the field of another owner. With --as it is
that of the view, with readOnly on all that the owner cannot write, for forms and type
generators.`,
		Example: `  freehold schema reset --owners owners/runtime/owners.yaml
  freehold schema cost --patch > cost.patch.schema.json
  freehold schema --as cost
  freehold schema owners > owners.schema.json`,
		Args: cli.Operands(0, 1, "an OWNER, view or owners"),
	}, func(_ context.Context, args []string) error {
		name := append(args, "view")[0]
		switch {
		case as != "" && name != "view":
			return failure.Usage("--as is for the schema of the view: leave out %s", name)
		case patch && (as != "" || name == "view" || name == "owners"):
			return failure.Usage("--patch is for the patches of one owner: name the owner")
		}
		text, err := schemaOf(p, owners, name, as, patch)
		if err != nil {
			return err
		}
		return c.Print(string(display.EscapeJSON(text)))
	})
	p.Flags(cmd)
	cmd.Flags().StringVar(&as, "as", "", "the schema of the view, with readOnly on all that `OWNER` cannot write")
	cmd.Flags().BoolVar(&patch, "patch", false, "the schema of a patch of the owner")
	owners.Add(cmd, "take the declaration from the owners.yaml `FILE`, not from a state")
	p.Completes(cmd, func(t verbs.Typing) []string {
		if len(t.Args) > 0 {
			return nil
		}
		return append(verbs.Operands("OWNER").Complete(t), "view\tthe view of all owners", "owners\towners.yaml itself")
	})
	return cmd
}

// schemaOf returns the schema of an owner or of its patches, of the view, for an owner if
// as names one, or of owners.yaml.
func schemaOf(p *cli.Place, owners *Flag, name, as string, patch bool) ([]byte, error) {
	if name == "owners" {
		return schema.OwnersSchema, nil
	}
	declaration, err := declarationOf(p, owners)
	if err != nil {
		return nil, err
	}
	if name == "view" && as == "" {
		return declare.ViewSchema(declaration)
	}
	owner := name
	if as != "" {
		owner = as
	}
	if _, ok := declaration.Owners[owner]; !ok {
		return nil, store.WithRemedy(
			failure.As(fmt.Errorf("state %s has no owner %q", declaration.State, owner), store.NotOwner),
			store.Remedy{Note: schema.DidYouMean(owner, "its owners are", declaration.OwnerNames())},
		)
	}
	switch {
	case as != "":
		return declare.ViewSchemaAs(declaration, as)
	case patch:
		return declare.PatchSchema(declaration, name)
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
