package ownersfile

import (
	"context"
	"strings"

	"github.com/freehold-dev/freehold/cmd/freehold/internal/cli"
	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/schema/declare"
	"github.com/spf13/cobra"
)

func newOwner(c *cli.Call) *cobra.Command {
	return c.Group(&cobra.Command{
		Use:     "owner COMMAND",
		Short:   "declare owners: owner add",
		Long:    "Declare owners.",
		Example: "  freehold owner add cost --field total_usd:decimal:counter",
	}, newOwnerAdd(c))
}

func newOwnerAdd(c *cli.Call) *cobra.Command {
	owners := &Flag{}
	var o schema.Owner
	var mode, durability, then string
	var fields []string
	cmd := c.Command(&cobra.Command{
		Use:   "add NAME --field FIELD...",
		Short: "add an owner to owners.yaml, then generate",
		Long: `Add an owner with its first fields to owners.yaml, keeping every comment, and
generate. If the declaration would have a mistake, the file stays as it is.

A field is NAME:TYPE or NAME:TYPE:KIND, and an enum NAME:enum:VALUE,VALUE,...
"freehold field add" adds fields with more to say about them.`,
		Example: `  freehold owner add cost --doc "The hook that counts." \
    --field turns:int:counter --field last_seen_at:time:max --field phase:enum:idle,busy`,
		Args: cli.Operands(1, 1, "a NAME"),
	}, func(ctx context.Context, args []string) error {
		o.Mode, o.Durability = schema.Mode(mode), schema.Durability(durability)
		o.Busy.Then = schema.Then(then)
		var err error
		if o.Fields, err = shortFields(fields); err != nil {
			return err
		}
		return owners.edit(ctx, c, func(text []byte) ([]byte, error) { return declare.AddOwner(text, args[0], o) })
	})
	owners.Add(cmd, Default)
	flags := cmd.Flags()
	flags.StringArrayVar(&fields, "field", nil, "a `FIELD` of the owner, NAME:TYPE[:KIND]; may be repeated")
	flags.StringVar(&o.Doc, "doc", "", "the program that plays the owner, a `TEXT`")
	flags.StringVar(&mode, "mode", "", "`MODE`: shared or exclusive (default shared)")
	flags.StringVar(&durability, "durability", "", "`LEVEL` that a commit survives: power or process (default power)")
	flags.StringVar(&o.Busy.Wait, "busy-wait", "", "how long a commit waits for another process, a `DURATION` (default 250ms)")
	flags.StringVar(&then, "busy-then", "", "the `RULE` for a commit that waited so long: fail or defer (default fail)")
	flags.StringVar(&o.Home, "home", "", "the `FOLDER`, from the module root, whose code may write the fields")
	return cmd
}

// shortFields reads fields in the short form of the command line.
func shortFields(texts []string) (map[string]schema.Field, error) {
	if len(texts) == 0 {
		return nil, failure.Usage("an owner wants at least one field: give --field NAME:TYPE")
	}
	fields := map[string]schema.Field{}
	for _, text := range texts {
		name, rest, ok := strings.Cut(text, ":")
		typ, more, _ := strings.Cut(rest, ":")
		if !ok || name == "" || typ == "" {
			return nil, failure.Usage("%q is no field: write NAME:TYPE, NAME:TYPE:KIND or NAME:enum:VALUE,VALUE", text)
		}
		if _, twice := fields[name]; twice {
			return nil, failure.Usage("the field %q is given twice: give it once", name)
		}
		f := schema.Field{Type: schema.Type(typ)}
		switch {
		case f.Type != schema.TypeEnum:
			f.Kind = schema.Kind(more)
		case more == "":
			return nil, failure.Usage("the enum %q has no values: write NAME:enum:VALUE,VALUE", text)
		default:
			f.Values = strings.Split(more, ",")
		}
		fields[name] = f
	}
	return fields, nil
}
