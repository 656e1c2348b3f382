package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/freehold-dev/freehold/reader"
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
			continue
		}
		for _, field := range view.Declaration().Owners[o.Name].FieldNames() {
			if _, err := view.Field(field).Raw(); err != nil && !errors.Is(err, reader.ErrUnset) {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
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
	if width, ok := c.terminal(); ok {
		return c.styled(head + fields.boxed(width) + "\n" + owners.boxed(width) + "\n")
	}
	return c.print(head + fields.aligned() + "\n" + owners.aligned())
}

// none fills a cell that has nothing to show.
const none = "-"

// alarm begins the text of a cell that somebody has to look at.
const alarm = "! "

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
// name.
func fieldNames(view *reader.View) []string {
	var names []string
	d := view.Declaration()
	for _, owner := range slices.Sorted(maps.Keys(d.Owners)) {
		names = append(names, d.Owners[owner].FieldNames()...)
	}
	return names
}

// fieldRow returns the row of one field.
func fieldRow(view *reader.View, name string) []string {
	d := view.Declaration()
	owner, _ := d.OwnerOf(name)
	row := []string{name, "", owner, none, none}
	raw, err := view.Field(name).Raw()
	switch {
	case err == nil:
		row[1] = shown(d.Owners[owner].Fields[name].Text(raw))
	case errors.Is(err, reader.ErrUnset):
		row[1] = unset
	default:
		row[1] = alarm + string(fieldStatus(view, owner))
	}
	if by, ok := view.Field(name).Provenance(); ok {
		row[3], row[4] = second(by.ChangedAt), writer(by)
	}
	return row
}

// fieldStatus returns why a field of owner cannot be had: the status of the
// sidecar, or else that its value does not fit the declaration.
func fieldStatus(view *reader.View, owner string) reader.Status {
	if o, _ := view.Owner(owner); o.Status != reader.OK {
		return o.Status
	}
	return reader.Invalid
}

// instant returns a time for people, to the millisecond.
func instant(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// second returns a time for a table, where room is scarce.
func second(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }

// writer names the process that wrote a field.
func writer(by reader.Provenance) string {
	return strings.TrimSpace(fmt.Sprintf("%s %d", visible(by.Program), by.PID))
}
