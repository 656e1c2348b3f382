package ownersfile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/spf13/cobra"

	"github.com/freehold-dev/freehold/cmd/freehold/internal/cli"
	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/schema/declare"
	"github.com/freehold-dev/freehold/sidecar/store"
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
	flags.StringVar(&o.Home, "home", "", "the `FOLDER`, from the module root, of the code that may write the fields")
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

func newField(c *cli.Call) *cobra.Command {
	return c.Group(&cobra.Command{
		Use:     "field COMMAND",
		Short:   "declare fields: field add",
		Long:    "Declare fields.",
		Example: "  freehold field add cost turns int --kind counter",
	}, newFieldAdd(c))
}

func newFieldAdd(c *cli.Call) *cobra.Command {
	owners := &Flag{}
	var f schema.Field
	var kind, of string
	cmd := c.Command(&cobra.Command{
		Use:   "add OWNER NAME TYPE",
		Short: "add a field to owners.yaml, then generate",
		Long: `Add a field to an owner in owners.yaml, keeping every comment, and generate. If the
declaration would have a mistake, the file stays as it is.

TYPE is bool, int, uint, float, decimal, string, time, duration, enum, list or json.
KIND says how writes combine: value (the latest counts), max, min, counter, once (the
first claim counts, for good; TYPE is time), event (begun, and later done or
abandoned; TYPE is time) or set (element by element; TYPE is that of an element).
A record or a map is written into owners.yaml by hand.`,
		Example: `  freehold field add cost last_prompt_tokens uint --unit tokens \
    --doc "Prompt tokens of the last call."
  freehold field add cost total_usd decimal --kind counter
  freehold field add watchdog restart_reason enum --values dead-process,pane-frozen
  freehold field add tagger labels string --kind set
  freehold field add tagger history list --of string`,
		Args: cli.Operands(3, 3, "an OWNER, a NAME and a TYPE"),
	}, func(ctx context.Context, args []string) error {
		f.Type, f.Kind = schema.Type(args[2]), schema.Kind(kind)
		if err := byHand(args[1], f); err != nil {
			return err
		}
		if of != "" {
			f.Of = &schema.Field{Type: schema.Type(of)}
		}
		err := owners.edit(ctx, c, func(text []byte) ([]byte, error) { return declare.AddField(text, args[0], args[1], f) })
		if errors.Is(err, declare.ErrNoOwner) {
			return store.WithRemedy(err, addingOwner(args[0], args[1], f))
		}
		return err
	})
	owners.Add(cmd, Default)
	flags := cmd.Flags()
	flags.StringVar(&kind, "kind", "", "`KIND`: value, max, min, counter, once, event or set (default value)")
	flags.StringVar(&of, "of", "", "the `TYPE` of a list's elements")
	flags.StringVar(&f.Doc, "doc", "", "the meaning of the value, a `TEXT`; it becomes the accessors' comment")
	flags.StringVar(&f.Unit, "unit", "", "the `UNIT` of a number, for people")
	flags.StringSliceVar(&f.Values, "values", nil, "the `VALUES` of an enum, separated by commas")
	flags.StringSliceVar(&f.DependsOn, "depends-on", nil, "the `FIELDS` of other owners that it is computed from, separated by commas")
	flags.StringVar(&f.Legacy, "legacy", "", "the field's `KEY` in the file that Freehold replaces")
	flags.StringVar(&f.Go, "go", "", "the `NAME` in generated code")
	return cmd
}

// addingOwner returns the remedy that declares the owner, with the field if the
// short form of the command line has room for it.
func addingOwner(owner, name string, f schema.Field) store.Remedy {
	field := fmt.Sprintf("%s:%s:%s", name, f.Type, cmp.Or(string(f.Kind), strings.Join(f.Values, ",")))
	field = strings.TrimSuffix(field, ":")
	if said, err := shortFields([]string{field}); err != nil || !reflect.DeepEqual(said, map[string]schema.Field{name: f}) {
		field = "NAME:TYPE"
	}
	return store.Remedy{Verb: "owner add", Args: []string{owner, "--field", field}, Note: "name an owner that is declared"}
}

// byHand refuses fields with members, which a command line has no room for.
func byHand(name string, f schema.Field) error {
	var written string
	switch {
	case f.Kind == schema.Map || string(f.Type) == string(schema.Map):
		written = name + ": {kind: map, record: {count: {type: uint, kind: counter}}}"
	case f.Type == schema.TypeRecord:
		written = name + ": {type: record, fields: {host: {type: string}}}"
	default:
		return nil
	}
	return store.WithRemedy(failure.Usage("a field with members is written into owners.yaml by hand"), store.Remedy{Note: "write such as `" + written + "`, then generate"})
}
