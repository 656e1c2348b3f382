package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/spf13/cobra"
)

func newPut(c *cli) *cobra.Command {
	w := &writing{acting: acting{cli: c}}
	cmd := c.command(&cobra.Command{
		Use:   "put OWNER MAP KEY MEMBER=VALUE...",
		Short: "write at a key of a map",
		Long: `Write members of what a map has at KEY, as their owner and all in one commit.
Each member is written by its kind: one of kind value is set, VALUE is added to
a counter, a max is raised and a min lowered. Of a map that has no members but
one value at a key, the operand is a VALUE alone.

A key that is not there is created if OWNER decides which keys the map has. Any
other owner may write only at keys that are there (exit status 4).`,
		Example: `  freehold put creator skills deploy created_by=agent
  freehold put tool skills deploy use_count=1 last_used_at=2026-08-11T09:12:44.031Z
  freehold put hook seen 0b7c1c1e 17`,
		Args:        operands(4, -1, "an OWNER, a MAP, a KEY and at least one MEMBER=VALUE"),
		Annotations: map[string]string{takesNumber: "yes"},
	}, func(ctx context.Context, args []string) error {
		p := putting{owner: args[0], field: args[1], key: args[2]}
		return w.commit(ctx, p.owner, func(d *schema.Declaration) (sidecar.Patch, error) {
			return p.patch(d, args[3:])
		})
	})
	w.flags(cmd)
	w.completes(cmd, completeMembers)
	return cmd
}

// A putting is where one call of put writes.
type putting struct{ owner, field, key string }

// patch turns the operands behind the key into a patch.
func (p putting) patch(d *schema.Declaration, values []string) (sidecar.Patch, error) {
	if joined, ok := d.Joined(p.field); joined.Value != nil || ok && joined.EffectiveKind() != schema.Map {
		return p.one(d, values)
	}
	var patch sidecar.Patch
	given := map[string]bool{}
	for _, assignment := range values {
		member, text, ok := strings.Cut(assignment, "=")
		switch {
		case !ok:
			return nil, usage("%q is no MEMBER=VALUE: put a = between the two, and no blanks", assignment)
		case member == "" || member != strings.TrimSpace(member):
			return nil, usage("%q is no MEMBER=VALUE: write the three as one word, without blanks around the =", assignment)
		case given[member]:
			return nil, usage("member %q is given two values: give it one", member)
		}
		given[member] = true
		spec, err := p.member(d, member, assignment)
		if err != nil {
			return nil, err
		}
		op, err := p.op(spec, member, text)
		if err != nil {
			return nil, err
		}
		patch = append(patch, op)
	}
	return patch, nil
}

// one is patch for a map that has one value at a key.
func (p putting) one(d *schema.Declaration, values []string) (sidecar.Patch, error) {
	f, err := lookup(d, p.owner, p.field, "put", append([]string{p.field, p.key}, values...)...)
	if err != nil {
		return nil, err
	}
	if len(values) > 1 {
		return nil, usage("field %s has one value at a key, and no members: give one VALUE", p.field)
	}
	op, err := p.op(*f.Value, "", values[0])
	return sidecar.Patch{op}, err
}

// member returns the declaration of a member of owner's. The error for one
// that is not owner's says whose it is, and the hint what to call instead.
func (p putting) member(d *schema.Declaration, member, assignment string) (schema.Field, error) {
	for _, other := range d.OwnersOf(p.field) {
		spec, ok := d.Owners[other].Fields[p.field].Member(member)
		switch {
		case !ok:
		case other == p.owner:
			return spec, nil
		default:
			return schema.Field{}, hinted{
				fmt.Errorf("field %s, member %s: %w: it belongs to owner %s, and owner %s may not write it", p.field, member, sidecar.ErrNotOwner, other, p.owner),
				fmt.Sprintf("`%s` writes as %s", pasted("freehold", "put", other, p.field, p.key, assignment), other),
			}
		}
	}
	f, err := lookup(d, p.owner, p.field, "put", p.field, p.key, assignment)
	if err != nil {
		return schema.Field{}, err
	}
	return schema.Field{}, hinted{
		fmt.Errorf("field %s, member %q: %w: no owner of state %s declares it", p.field, member, sidecar.ErrNotOwner, d.State),
		fmt.Sprintf("the members of %s are %s", p.owner, strings.Join(f.MemberNames(), ", ")),
	}
}

// puts maps the kind of a member to the verb by which put writes it.
var puts = map[schema.Kind]sidecar.Verb{
	schema.Value: sidecar.VerbSet, schema.Counter: sidecar.VerbAdd, schema.Max: sidecar.VerbRaise, schema.Min: sidecar.VerbLower,
}

func (p putting) op(spec schema.Field, member, text string) (sidecar.Op, error) {
	name := p.field
	if member != "" {
		name += ", member " + member + ","
	}
	raw, err := parse(p.owner, name, spec, text)
	return sidecar.Op{Field: p.field, Verb: puts[spec.EffectiveKind()], Key: p.key, Member: member, Value: raw}, err
}

// completeMembers completes OWNER, MAP and, behind the key, the owner's members.
func completeMembers(d *schema.Declaration, args []string) []string {
	if len(args) < 2 {
		return completeFields(schema.Map, "")(d, args)
	}
	if len(args) == 2 {
		return nil
	}
	var names []string
	for _, name := range d.Owners[args[0]].Fields[args[1]].MemberNames() {
		names = append(names, name+"=")
	}
	return names
}
