package screen

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/freehold-dev/freehold/cmd/freehold/internal/cli"
	"github.com/freehold-dev/freehold/cmd/internal/console"
	"github.com/freehold-dev/freehold/cmd/internal/display"
	"github.com/freehold-dev/freehold/cmd/internal/verbs"
	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/reader/explain"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/spf13/cobra"
)

func newView(c *cli.Call) *cobra.Command {
	p := cli.Looking()
	s := newSelection(c)
	var fields []string
	var unpaged bool
	cmd := c.Command(&cobra.Command{
		Use:   "view",
		Short: "print all fields, and how old and how fresh they are",
		Long: `Print the fields of all owners in one snapshot, each with its owner, its age by
this machine's clock, the program that wrote it (WHO), the version of its last change
and, if it depends on others, its freshness. Nothing is locked and nothing is
written. If the sidecar of an owner cannot be used, the others are printed all the
same, a second table names that owner, and the exit status is 3.

--owner and --field select fields. With --stale, print only fields that are stale,
ambiguous or unknown; the exit status is 1 if there are any.

A table that is wider than the terminal ($COLUMNS, if set, is its width) loses the
versions, then its cells wrap, and then each field becomes a paragraph. One that is
longer goes through $PAGER (default less). --json and a pipe get everything, and
"freehold explain" has the details of one field. NO_COLOR leaves colours out;
CLICOLOR_FORCE=1 keeps them in a pipe.`,
		Example: `  freehold view
  freehold view --owner cost
  freehold view --field total_usd --field last_prompt_tokens
  freehold view --stale && echo "nothing is out of date"
  freehold view --json | jq .fields`,
		Args: cli.Operands(0, 0, "no operands"),
	}, func(ctx context.Context, _ []string) (err error) {
		if s.View, err = p.View(ctx); err != nil {
			return err
		}
		if c.JSON {
			return s.Print(&c.Console, fields)
		}
		if err := s.Choose(fields); err != nil {
			return err
		}
		return errors.Join(s.print(!unpaged), s.Broken(), s.Unfresh())
	})
	p.Flags(cmd)
	s.flags(p, cmd)
	cmd.Flags().StringArrayVar(&fields, "field", nil, "only this `FIELD`; may be repeated")
	cmd.RegisterFlagCompletionFunc("field", p.Completion(func(t verbs.Typing) []string {
		t.Args = nil
		return verbs.Operands("FIELD").Complete(t)
	}))
	cmd.Flags().BoolVar(&unpaged, "no-pager", false, "do not run $PAGER")
	cmd.Flags().BoolVar(&s.Stale, "stale", false, "only fields that are stale, ambiguous or unknown")
	return cmd
}

// print writes the selection for people: a table of the fields, and one of the
// owners that are not well.
func (s *selection) print(paged bool) error {
	width, terminal := s.Terminal()
	draw := table.plain
	if terminal {
		draw = func(t table) string { return t.fitted(width) }
	}
	text := s.Prose(s.heading() + "\n" + s.pendingLines())
	switch fields := s.fieldTable(time.Now()); {
	case s.Stale && len(fields) == 1:
		text += "nothing is stale, ambiguous or unknown\n"
	default:
		text += draw(fields)
	}
	if owners := s.ownerTable(); len(owners) > 1 && !s.Stale {
		text += "\n" + draw(owners)
	}
	if paged {
		return s.Page(text)
	}
	return s.Styled(text)
}

// fieldTable returns the table of the selected fields, by owner.
func (s *selection) fieldTable(now time.Time) table {
	t := table{{headOwner, headField, headValue, headAge, headWho, headVersion, headFreshness}}
	dependent := false
	for _, name := range s.Fields() {
		r := explain.Row(s.View, name)
		row := []string{strings.Join(s.View.Field(name).Owners(), ", "), name, value(s.View, r), none, none, version(r.Provenance), none}
		if !r.ChangedAt.IsZero() {
			row[3], row[4] = age(now.Sub(r.ChangedAt)), display.Text(r.Program)
		}
		if r.Declared.Dependent() {
			dependent = true
			fresh := s.View.Field(name).Freshness()
			if row[6] = string(fresh.Verdict); !fresh.Fresh() {
				row[6] += fmt.Sprintf(" (%s)", fresh.Reason)
			}
		}
		t = append(t, row)
	}
	slices.SortStableFunc(t[1:], func(a, b []string) int { return cmp.Compare(a[0], b[0]) })
	if !dependent {
		return t.without(headFreshness)
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

// ownerTable returns the table of the selected owners without a usable sidecar.
func (s *selection) ownerTable() table {
	t := table{{headOwner, headStatus, headWritten, headVersion}}
	for _, o := range s.Owners() {
		if o.Status == store.OK || o.Status == store.Missing {
			continue
		}
		row := []string{o.Name, alarm + string(o.Status), none, version(reader.Provenance{Version: o.Version})}
		if !o.Version.IsZero() {
			row[2] = o.WrittenAt.UTC().Format("2006-01-02T15:04:05Z")
		}
		t = append(t, row)
	}
	return t
}

// pendingLines reports pending patches, and whether the view shows them.
func (s *selection) pendingLines() string {
	var t console.Text
	for _, o := range s.Owners() {
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

// ahead is the age of a change after this machine's clock.
const ahead = "ahead"

// age returns the time since a change, in the largest unit of which it has at
// least two.
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
		return ahead
	}
	return fmt.Sprintf("%ds", d/time.Second)
}
