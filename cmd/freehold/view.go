package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/schema"
	"github.com/spf13/cobra"
)

func newView(c *cli) *cobra.Command {
	p := &place{}
	s := selection{cli: c}
	cmd := c.command(&cobra.Command{
		Use:   "view",
		Short: "print all fields, and how old and how fresh they are",
		Long: `Print the union of all owners' fields at one cut, each with its owner, its age by
this machine's clock, the version of the commit that changed it last, and, if it
depends on others, whether it is fresh. Nothing is locked and nothing is written.
Where the sidecar of an owner cannot be used, the others are printed all the same
and the exit status is 3.

With --stale, print only fields that are stale, ambiguous or unknown; the exit
status is 1 if there are any.

A terminal that is too narrow for the table ($COLUMNS, if set, says how wide it
is) gets shorter versions, then none, then a paragraph for each field, which also
says which program wrote it. Where the locale has no UTF-8, the lines of the table
are of plain characters. --json and a pipe get everything, and "freehold
explain" tells all of one field.`,
		Example: `  freehold view
  freehold view --owner cost
  freehold view --stale && echo "nothing is out of date"
  freehold view --json | jq .fields`,
		Args: operands(0, 0, "no operands"),
	}, func(ctx context.Context, _ []string) (err error) {
		if s.view, err = p.view(ctx); err != nil {
			return err
		}
		if err := s.check(); err != nil {
			return err
		}
		if c.json {
			err = c.printJSON(s)
		} else {
			err = c.printView(s)
		}
		return errors.Join(err, s.broken(), s.unfresh())
	})
	p.flags(cmd)
	s.flag = p.ownerFlag(cmd, &s.owner)
	cmd.Flags().BoolVar(&s.stale, "stale", false, "only fields that are stale, ambiguous or unknown")
	return cmd
}

// ofOwner reports whether err only says again that the sidecar of an owner
// cannot be used.
func ofOwner(view *reader.View, err error) bool {
	return slices.ContainsFunc(view.Owners(), func(o reader.OwnerStatus) bool { return o.Err != nil && errors.Is(err, o.Err) })
}

// fieldNames returns the names of all declared fields, by owner and then by
// name; a map stands with the owner that decides its keys.
func fieldNames(view *reader.View) []string {
	var names []string
	d := view.Declaration()
	for _, owner := range d.OwnerNames() {
		names = append(names, decidedBy(d, owner)...)
	}
	return names
}

// decidedBy returns the names of the fields that are owner's, without maps
// whose keys another owner decides.
func decidedBy(d *schema.Declaration, owner string) []string {
	return slices.DeleteFunc(d.Owners[owner].FieldNames(), func(field string) bool {
		decider, _ := d.OwnerOf(field)
		return decider != owner
	})
}

// ownersOf returns the owners of a field, the one that decides the keys first.
func ownersOf(d *schema.Declaration, field string) []string {
	decider, _ := d.OwnerOf(field)
	others := slices.DeleteFunc(d.OwnersOf(field), func(owner string) bool { return owner == decider })
	return append([]string{decider}, others...)
}

// culprit returns the owner because of which a field cannot be had, and why:
// the status of its sidecar, or else that its value does not fit the
// declaration.
func culprit(view *reader.View, field string) (owner string, status reader.Status) {
	owners := ownersOf(view.Declaration(), field)
	if f, _ := view.Declaration().Joined(field); f.EffectiveKind() == schema.Once {
		by, _ := view.Field(field).Provenance()
		return owners[0], by.Status
	}
	for _, owner := range owners {
		if o, _ := view.Owner(owner); o.Err != nil {
			return owner, o.Status
		}
	}
	return owners[0], reader.Invalid
}

// lastWriter returns who changed anything last of a field; of a map, whichever
// owner that is of.
func lastWriter(view *reader.View, field string) (last reader.Provenance, ok bool) {
	for _, owner := range ownersOf(view.Declaration(), field) {
		by, written := provenanceOf(view, field, owner)
		if written && (!ok || by.ChangedAt.After(last.ChangedAt)) {
			last, ok = by, true
		}
	}
	return last, ok
}

// provenanceOf returns who changed anything last of what owner has in a field.
func provenanceOf(view *reader.View, field, owner string) (reader.Provenance, bool) {
	d := view.Declaration()
	entry := view.Field(field)
	if decider, _ := d.OwnerOf(field); decider == owner {
		return entry.Provenance()
	}
	members := d.Owners[owner].Fields[field].MemberNames()
	if len(members) == 0 {
		return reader.Provenance{}, false
	}
	// Whatever the key, each member has the provenance of its owner's part.
	return entry.Key("").Member(members[0]).Provenance()
}

// instant returns a time for people, to the millisecond.
func instant(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// exactly returns t for a program, as sidecars write it.
func exactly(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
