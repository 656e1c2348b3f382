package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/freehold-dev/freehold/cmd/freehold/internal/cli"
	"github.com/freehold-dev/freehold/cmd/internal/display"
	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// printView writes what is selected for eyes: a table of the fields, and one of
// the owners.
func printView(c *cli.Call, s selection) error {
	head := fmt.Sprintf("state %s in %s: %s cut %s\n", display.Escape(s.view.State()), display.Escape(s.view.Dir()), s.view.Consistency(), s.view.ID())
	head = c.Prose(head + pendingLines(c, s.owners()))
	now := time.Now()
	width, terminal := c.Terminal()
	draw := func(of func(detail) table) string {
		if terminal {
			return fitted(width, of(signed), of(whole), of(brief), of(least)) + "\n"
		}
		return of(whole).aligned()
	}
	fields := func(d detail) table { return s.fieldTable(d, now) }
	if s.stale && len(s.fields()) == 0 {
		return c.Styled(head + "nothing is stale, ambiguous or unknown\n")
	}
	text := head + draw(fields)
	if !s.stale {
		text += "\n" + draw(s.ownerTable)
	}
	if !terminal {
		return c.Print(text)
	}
	return c.Styled(text)
}

// A detail is how much of each field or owner a table tells.
type detail int

const (
	signed detail = iota // everything, and which process wrote it, for paragraphs
	whole                // everything that a table has room for
	brief                // versions without their epochs
	least                // no versions, and of the freshness the verdict
)

// none fills a cell that has nothing to show.
const none = "-"

// alarm begins the text of a cell that somebody has to look at.
const alarm = "! "

// The heads of columns that a table treats in a way of their own.
const (
	headValue     = "VALUE"     // its cells wrap first
	headVersion   = "VERSION"   // not shown with the least detail
	headFreshness = "FRESHNESS" // its cells have colours
)

// fieldTable returns the table of the selected fields.
func (s selection) fieldTable(d detail, now time.Time) table {
	t := table{{"OWNER", "FIELD", headValue, "AGE", headVersion, headFreshness}}
	if d == signed {
		t[0] = append(t[0], "WRITTEN BY")
	}
	for _, name := range s.fields() {
		owners := s.view.Field(name).Owners()
		row := []string{strings.Join(owners, ", "), name, valueCell(s.view, name), none, none, freshnessCell(s.view, name, d)}
		by, ok := s.view.Field(name).LastChange()
		if ok {
			row[3], row[4] = age(now.Sub(by.ChangedAt)), versionCell(by.Version, d)
			if by.Claim != "" {
				row[4] = "claim " + by.Claim
			}
		}
		switch {
		case d == signed && ok:
			row = append(row, fmt.Sprintf("%s, process %d", display.Escape(by.Program), by.PID))
		case d == signed:
			row = append(row, none)
		}
		t = append(t, row)
	}
	return t.without(d)
}

// valueCell returns what stands for the value of a field.
func valueCell(view *reader.View, name string) string {
	f, _ := view.Declaration().Joined(name)
	raw, err := view.Field(name).Raw()
	text := display.Unset
	switch {
	case err == nil:
		text = display.Value(f, raw)
	case !errors.Is(err, reader.ErrUnset):
		bad, status := view.Field(name).Obstacle()
		if text = alarm + string(status); len(view.Field(name).Owners()) > 1 {
			text += ": " + bad
		}
	}
	if open := len(view.Field(name).Open()); open > 0 {
		text += fmt.Sprintf(" (%d begun)", open)
	}
	return text
}

// freshnessCell says how fresh a field is; of one that depends on nothing,
// nothing.
func freshnessCell(view *reader.View, name string, d detail) string {
	if f, _ := view.Declaration().Joined(name); !f.Dependent() {
		return none
	}
	fresh := view.Field(name).Freshness()
	if fresh.Fresh() || d == least {
		return string(fresh.Verdict)
	}
	return fmt.Sprintf("%s (%s)", fresh.Verdict, fresh.Reason)
}

func versionCell(v sidecar.Version, d detail) string {
	switch {
	case v.IsZero():
		return none
	case v.IsPending():
		return "pending " + v.Nonce
	case d > whole:
		return fmt.Sprintf("…%d.%s", v.Revision, v.Nonce)
	}
	return v.String()
}

// ownerTable returns the table of the selected owners.
func (s selection) ownerTable(d detail) table {
	t := table{{"OWNER", "STATUS", headVersion, "WRITTEN"}}
	all := s.owners()
	pending := slices.ContainsFunc(all, func(o reader.OwnerStatus) bool { return o.Pending > 0 })
	if pending {
		t[0] = append(t[0], "PENDING")
	}
	for _, o := range all {
		row := []string{o.Name, string(o.Status), versionCell(o.Version, d), none}
		if o.Status != store.OK && o.Status != store.Missing {
			row[1] = alarm + row[1]
		}
		if !o.Version.IsZero() {
			row[3] = second(o.WrittenAt)
		}
		if pending {
			row = append(row, fmt.Sprint(o.Pending))
		}
		t = append(t, row)
	}
	return t.without(d)
}

// without returns t without the column that d has no room for.
func (t table) without(d detail) table {
	col := slices.Index(t[0], headVersion)
	if d != least || col < 0 {
		return t
	}
	var less table
	for _, row := range t {
		less = append(less, slices.Delete(slices.Clone(row), col, col+1))
	}
	return less
}

// pendingLines says pending patches and whether the view shows it.
func pendingLines(c *cli.Call, owners []reader.OwnerStatus) string {
	var b strings.Builder
	for _, o := range owners {
		switch {
		case o.Pending == 0:
		case o.Err != nil:
			fmt.Fprintf(&b, "%s has %s, which the view does not show\n", o.Name, display.Count(o.Pending, "pending patch", "pending patches"))
		case o.PendingErr != nil:
			fmt.Fprintf(&b, "%s has %s, not all of which the view shows: %s\n", o.Name, display.Count(o.Pending, "pending patch", "pending patches"), display.Escape(display.Line(c.WithRemedies(o.PendingErr, ""))))
		default:
			fmt.Fprintf(&b, "%s has %s, which the view shows; to fold them, %s\n", o.Name, display.Count(o.Pending, "pending patch", "pending patches"), c.Sentence(store.By("fold", o.Name), ""))
		}
	}
	return b.String()
}

// second returns a time for a table, where room is scarce.
func second(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }

// age returns how long ago something was, in the largest unit of which it is at
// least two. What this machine's clock has not reached yet is "ahead".
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
