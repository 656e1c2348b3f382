package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/schema"
	"github.com/spf13/cobra"
)

func newView(c *cli) *cobra.Command {
	p := &place{}
	cmd := c.command(&cobra.Command{
		Use:   "view",
		Short: "print all fields, and who wrote them",
		Long: `Print the union of all owners' fields at one cut, each with its owner and who
wrote it when. Nothing is locked and nothing is written. Where the sidecar of an
owner cannot be used, the others are printed all the same and the exit status
is 3.`,
		Example: `  freehold view
  freehold view --json | jq .fields`,
		Args: operands(0, 0, "no operands"),
	}, func(ctx context.Context, _ []string) error {
		view, err := p.view(ctx)
		if err != nil {
			return err
		}
		if c.json {
			err = c.printJSON(view)
		} else {
			err = c.printView(view)
		}
		return errors.Join(err, broken(view))
	})
	p.flags(cmd)
	return cmd
}

// broken returns the errors of the owners whose sidecars cannot be used, and of
// the single fields that cannot.
func broken(view *reader.View) error {
	var errs []error
	for _, o := range view.Owners() {
		if o.Err != nil {
			errs = append(errs, o.Err)
		}
	}
	for _, field := range fieldNames(view) {
		_, err := view.Field(field).Raw()
		if err != nil && !errors.Is(err, reader.ErrUnset) && !ofOwner(view, err) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// ofOwner reports whether err only says again that the sidecar of an owner
// cannot be used.
func ofOwner(view *reader.View, err error) bool {
	return slices.ContainsFunc(view.Owners(), func(o reader.OwnerStatus) bool { return o.Err != nil && errors.Is(err, o.Err) })
}

func (c *cli) printView(view *reader.View) error {
	head := fmt.Sprintf("state %s in %s: %s cut %s\n", visible(view.State()), visible(view.Dir()), view.Consistency(), view.ID())
	fields := table{{"FIELD", "VALUE", "OWNER", "CHANGED", "BY"}}
	for _, name := range fieldNames(view) {
		fields = append(fields, fieldRow(view, name))
	}
	owners := table{{"OWNER", "STATUS", "VERSION", "WRITTEN"}}
	for _, o := range view.Owners() {
		owners = append(owners, ownerRow(o))
	}
	owners, head = asideColumn(view, owners), head+asideLines(view)
	if width, ok := c.terminal(); ok {
		return c.styled(head + fields.boxed(width) + "\n" + owners.boxed(width) + "\n")
	}
	return c.print(head + fields.aligned() + "\n" + owners.aligned())
}

// none fills a cell that has nothing to show.
const none = "-"

// alarm begins the text of a cell that somebody has to look at.
const alarm = "! "

// asideColumn says how many patches each owner has set aside, if one has.
func asideColumn(view *reader.View, owners table) table {
	all := view.Owners()
	if !slices.ContainsFunc(all, func(o reader.OwnerStatus) bool { return o.Aside > 0 }) {
		return owners
	}
	owners[0] = append(owners[0], "SET ASIDE")
	for i, o := range all {
		owners[i+1] = append(owners[i+1], fmt.Sprint(o.Aside))
	}
	return owners
}

// asideLines says what is set aside and whether the view shows it.
func asideLines(view *reader.View) string {
	var b strings.Builder
	for _, o := range view.Owners() {
		switch {
		case o.Aside == 0:
		case o.Err != nil:
			fmt.Fprintf(&b, "%s has %s set aside, which the view does not show\n", o.Name, count(o.Aside, "patch", "patches"))
		case o.AsideErr != nil:
			fmt.Fprintf(&b, "%s has %s set aside, not all of which the view shows: %s\n", o.Name, count(o.Aside, "patch", "patches"), visible(strings.ReplaceAll(o.AsideErr.Error(), "\n", "; ")))
		default:
			fmt.Fprintf(&b, "%s has %s set aside, which the view shows; `freehold fold %s` takes them in\n", o.Name, count(o.Aside, "patch", "patches"), o.Name)
		}
	}
	return b.String()
}

// ownerRow returns the row of one owner.
func ownerRow(o reader.OwnerStatus) []string {
	row := []string{o.Name, string(o.Status), none, none}
	if o.Status != reader.OK && o.Status != reader.Missing {
		row[1] = alarm + row[1]
	}
	if !o.Version.IsZero() {
		row[2], row[3] = o.Version.String(), second(o.WrittenAt)
	}
	return row
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

// fieldRow returns the row of one field.
func fieldRow(view *reader.View, name string) []string {
	f, _ := view.Declaration().Joined(name)
	owners := ownersOf(view.Declaration(), name)
	row := []string{name, "", strings.Join(owners, ", "), none, none}
	raw, err := view.Field(name).Raw()
	switch {
	case err == nil:
		row[1] = shownValue(f, raw)
	case errors.Is(err, reader.ErrUnset):
		row[1] = unset
	default:
		bad, status := culprit(view, name)
		if row[1] = alarm + string(status); len(owners) > 1 {
			row[1] += ": " + bad
		}
	}
	if by, ok := lastWriter(view, name); ok {
		row[3], row[4] = second(by.ChangedAt), writer(by)
	}
	return row
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

// second returns a time for a table, where room is scarce.
func second(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }

// writer names the process that wrote a field.
func writer(by reader.Provenance) string {
	return strings.TrimSpace(fmt.Sprintf("%s %d", visible(by.Program), by.PID))
}
