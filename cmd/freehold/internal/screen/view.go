package screen

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/freehold-dev/freehold/cmd/freehold/internal/cli"
	"github.com/freehold-dev/freehold/cmd/internal/display"
	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/reader/explain"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/spf13/cobra"
)

func newView(c *cli.Call) *cobra.Command {
	p := &cli.Place{Looks: true}
	s := &selection{Call: c}
	cmd := c.Command(&cobra.Command{
		Use:   "view",
		Short: "print all fields, and how old and how fresh they are",
		Long: `Print the fields of all owners in one snapshot, each with its owner, its age by
this machine's clock, the version of its last change and, if it depends on
others, its freshness. Nothing is locked and nothing is written. If the sidecar of
an owner cannot be used, the others are printed all the same and the exit status
is 3.

With --stale, print only fields that are stale, ambiguous or unknown; the exit
status is 1 if there are any.

A table that is wider than the terminal ($COLUMNS, if set, is its width) loses the
versions, and its cells wrap. --json and a pipe get everything, and "freehold
explain" has the details of one field.`,
		Example: `  freehold view
  freehold view --owner cost
  freehold view --stale && echo "nothing is out of date"
  freehold view --json | jq .fields`,
		Args: cli.Operands(0, 0, "no operands"),
	}, func(ctx context.Context, _ []string) (err error) {
		if s.view, err = p.View(ctx); err != nil {
			return err
		}
		if err := s.check(); err != nil {
			return err
		}
		if c.JSON {
			err = c.PrintJSON(s)
		} else {
			err = s.print()
		}
		return errors.Join(err, s.broken(), s.unfresh())
	})
	p.Flags(cmd)
	s.flags(p, cmd)
	cmd.Flags().BoolVar(&s.stale, "stale", false, "only fields that are stale, ambiguous or unknown")
	return cmd
}

// print writes the selection for people: a table of the fields, and one of the
// owners.
func (s *selection) print() error {
	width, terminal := s.Terminal()
	draw := func(t table) string {
		if terminal {
			return t.boxed(width)
		}
		return t.plain()
	}
	text := s.Prose(s.heading() + "\n" + s.pendingLines())
	switch fields := s.fieldTable(time.Now()); {
	case s.stale && len(fields) == 1:
		text += "nothing is stale, ambiguous or unknown\n"
	case s.stale:
		text += draw(fields)
	default:
		text += draw(fields) + "\n" + draw(s.ownerTable())
	}
	if terminal {
		return s.Styled(text)
	}
	return s.Print(text)
}

// fieldTable returns the table of the selected fields.
func (s *selection) fieldTable(now time.Time) table {
	t := table{{"OWNER", "FIELD", "VALUE", "AGE", headVersion, headFreshness}}
	for _, name := range s.fields() {
		r := explain.Row(s.view, name)
		row := []string{strings.Join(s.view.Field(name).Owners(), ", "), name, value(s.view, r), none, version(r.Provenance), none}
		if !r.ChangedAt.IsZero() {
			row[3] = age(now.Sub(r.ChangedAt))
		}
		if r.Declared.Dependent() {
			fresh := s.view.Field(name).Freshness()
			if row[5] = string(fresh.Verdict); !fresh.Fresh() {
				row[5] += fmt.Sprintf(" (%s)", fresh.Reason)
			}
		}
		t = append(t, row)
	}
	return t
}

// value returns the cell of a field's value.
func value(view *reader.View, r explain.Change) string {
	text := display.Value(r.Declared, r.Value)
	if r.Err != nil {
		if text = alarm + string(r.Status); len(view.Field(r.Field).Owners()) > 1 {
			text += ": " + r.Owner
		}
	}
	if r.Open > 0 {
		text += fmt.Sprintf(" (%d begun)", r.Open)
	}
	return text
}

// version returns the cell of a field's last commit.
func version(p reader.Provenance) string {
	switch {
	case p.Claim != "":
		return "claim " + p.Claim
	case p.Version.IsZero():
		return none
	case p.Version.IsPending():
		return "pending " + p.Version.Nonce
	}
	return p.Version.String()
}

// ownerTable returns the table of the selected owners.
func (s *selection) ownerTable() table {
	t := table{{"OWNER", "STATUS", headVersion, "WRITTEN"}}
	all := s.owners()
	pending := slices.ContainsFunc(all, func(o reader.OwnerStatus) bool { return o.Pending > 0 })
	if pending {
		t[0] = append(t[0], "PENDING")
	}
	for _, o := range all {
		row := []string{o.Name, string(o.Status), version(reader.Provenance{Version: o.Version}), none}
		if o.Status != store.OK && o.Status != store.Missing {
			row[1] = alarm + row[1]
		}
		if !o.Version.IsZero() {
			row[3] = o.WrittenAt.UTC().Format("2006-01-02T15:04:05Z")
		}
		if pending {
			row = append(row, fmt.Sprint(o.Pending))
		}
		t = append(t, row)
	}
	return t
}

// pendingLines reports pending patches, and whether the view shows them.
func (s *selection) pendingLines() string {
	var t cli.Text
	for _, o := range s.owners() {
		patches := display.Count(o.Pending, "pending patch", "pending patches")
		switch {
		case o.Pending == 0:
		case o.Err != nil:
			t.Line("%s has %s, which the view does not show", o.Name, patches)
		case o.PendingErr != nil:
			t.Line("%s has %s, not all of which the view shows: %s", o.Name, patches, display.Line(s.WithRemedies(o.PendingErr, "")))
		default:
			t.Line("%s has %s, which the view shows; to fold them, %s", o.Name, patches, s.Sentence(store.By("fold", o.Name), ""))
		}
	}
	return t.String()
}

// age returns the time since a change, in the largest unit of which it has at
// least two. A change after this machine's clock is "ahead".
func age(d time.Duration) string {
	const day = 24 * time.Hour
	for _, unit := range []struct {
		of   time.Duration
		name string
	}{{365 * day, "y"}, {day, "d"}, {time.Hour, "h"}, {time.Minute, "m"}} {
		if d >= 2*unit.of {
			return fmt.Sprintf("%d%s", d/unit.of, unit.name)
		}
	}
	if d < 0 {
		return "ahead"
	}
	return fmt.Sprintf("%ds", d/time.Second)
}
