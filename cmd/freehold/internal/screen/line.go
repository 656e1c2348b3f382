package screen

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/freehold-dev/freehold/cmd/freehold/internal/cli"
	"github.com/freehold-dev/freehold/cmd/internal/display"
	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/reader/explain"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// A line is a change on a terminal: short time, field, old and new value, program,
// effect on other fields.
type line struct{ at, name, value, who, effect string }

// widths are those of the columns so far, within bounds: later lines stand below
// the former ones.
type widths struct{ name, value, who int }

// lines returns changes of one view for a terminal. now is the time of the view.
func (w *watch) lines(all []explain.Change, now time.Time) string {
	changed := map[string]bool{}
	for _, c := range all {
		changed[c.Field] = changed[c.Field] || c.Cause == ""
	}
	var shown []line
	if w.first {
		w.widest.who = 11
		for _, field := range w.Fields() {
			w.widest.name = max(w.widest.name, min(len(field), 24))
		}
	}
	clock := 0
	for _, c := range all {
		if c.Cause != "" && changed[c.Cause] {
			continue // the line of the cause tells
		}
		l := w.line(c, now)
		l.effect = effects(c, all)
		shown = append(shown, l)
		clock = max(clock, len(l.at))
		w.widest.name = max(w.widest.name, min(ansi.StringWidth(l.name), 24))
		w.widest.value = max(w.widest.value, min(ansi.StringWidth(l.value), 24))
		w.widest.who = max(w.widest.who, min(ansi.StringWidth(l.who), 12))
	}
	text := ""
	width, terminal := w.Terminal()
	for _, l := range shown {
		row := w.row(l, w.widest)
		if terminal && clock+len(gap)+ansi.StringWidth(row) > width {
			row = w.row(l, widths{})
		}
		text += w.Hanging(cli.Faint.Render(padded(l.at, clock))+gap, row, strings.Repeat(" ", clock+len(gap)))
	}
	return text
}

// row returns a line behind its time, with columns of some width.
func (w *watch) row(l line, of widths) string {
	row := cli.Strong.Render(l.name) + strings.Repeat(" ", max(0, of.name-ansi.StringWidth(l.name))) + gap + padded(l.value, of.value)
	for _, part := range []string{padded(l.who, of.who), l.effect} {
		if part != "" {
			row += gap + part
		}
	}
	return strings.TrimRight(row, " ")
}

func padded(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-ansi.StringWidth(text)))
}

// line returns a change without its effect on others.
func (w *watch) line(c explain.Change, now time.Time) line {
	problem := ""
	if c.Err != nil {
		problem = cli.Bad.Render(display.Escape(display.Line(w.WithRemedies(c.Err, ""))))
	}
	if c.Field == "" {
		status := string(c.Status)
		if c.Status != store.OK && c.Status != store.Missing {
			status = cli.Bad.Render(alarm + status)
		}
		return line{at: clockTime(now, now), name: "owner " + c.Owner, value: arrow(string(c.Before.Status), status), who: problem}
	}
	l := line{at: none, name: c.Field, who: display.Text(c.Program)}
	if c.Key != nil {
		l.name += " " + display.Key(*c.Key)
	}
	if begun, ok := w.begun(c); ok {
		c.ChangedAt, l.who = begun.BegunAt, display.Text(begun.Program)
	}
	if !c.ChangedAt.IsZero() {
		l.at = clockTime(c.ChangedAt, now)
	} else {
		l.who = ""
	}
	switch old, value := w.values(c); {
	case problem != "":
		l.value = cli.Bad.Render(alarm) + problem
	case c.Cause != "":
		l.value = arrow(string(c.Before.Freshness), dressed(c.Freshness))
	default:
		l.value = arrow(old, value)
	}
	return l
}

// begun returns the beginning that changed an event, if one did.
func (w *watch) begun(c explain.Change) (last reader.Opening, ok bool) {
	if c.Open <= c.Before.Open {
		return last, false
	}
	for _, o := range w.View.Field(c.Field).Open() {
		if !o.BegunAt.Before(last.BegunAt) {
			last = o
		}
	}
	return last, true
}

// values returns the old and the new value of a change. Without an old one, or with
// one that looks the same, there is only the new.
func (w *watch) values(c explain.Change) (old, now string) {
	width, _ := w.Terminal()
	most := min(64, max(30, width/3))
	old, now = display.ClipTo(display.Value(c.Declared, c.Before.Value), most), display.ClipTo(display.Value(c.Declared, c.Value), most)
	if c.Declared.Type == schema.TypeTime || c.Declared.EffectiveKind() == schema.Event || c.Declared.EffectiveKind() == schema.Once {
		old, now = shortInstants(old, now, c.ChangedAt)
	}
	if w.first {
		old = ""
	}
	if old == now {
		old = ""
	}
	if c.Value == nil {
		now = cli.Faint.Render(now)
	}
	if c.Open > 0 {
		now += fmt.Sprintf(" (%d begun)", c.Open)
	}
	return old, now
}

// shortInstants returns two instants as times of the day of at, with as much of
// them as tells the two apart.
func shortInstants(old, now string, at time.Time) (string, string) {
	short := func(text, layout string) string {
		t, err := time.Parse(time.RFC3339Nano, text)
		if err != nil || t.UTC().Format(time.DateOnly) != at.UTC().Format(time.DateOnly) {
			return text
		}
		return t.UTC().Format(layout)
	}
	for _, layout := range []string{time.TimeOnly, "15:04:05.000", "15:04:05.999999999"} {
		if a, b := short(old, layout), short(now, layout); a != b || old == now {
			return a, b
		}
	}
	return old, now
}

// clockTime returns the time of a change: that of the day, if the day is now's.
func clockTime(t, now time.Time) string {
	if t = t.UTC(); t.Format(time.DateOnly) != now.UTC().Format(time.DateOnly) {
		return t.Format(time.DateOnly)
	}
	return t.Format(time.TimeOnly)
}

func arrow(old, now string) string {
	if old == "" || old == now {
		return now
	}
	return cli.Faint.Render(old) + " -> " + now
}

// dressed returns a verdict with its look.
func dressed(v reader.Verdict) string { return look(headFreshness, string(v), false).Render(string(v)) }

// effects names the fields that a change, one of all, makes stale, ambiguous, unknown
// or fresh again; and says the same of its own field.
func effects(c explain.Change, all []explain.Change) string {
	var parts []string
	if c.Cause == "" && c.Freshness != "" {
		parts = append(parts, dressed(c.Freshness))
	}
	by := map[reader.Verdict][]string{}
	for _, other := range all {
		if c.Field != "" && other.Cause == c.Field {
			by[other.Freshness] = append(by[other.Freshness], other.Field)
		}
	}
	for _, v := range []reader.Verdict{reader.Stale, reader.Ambiguous, reader.Unknown, reader.Fresh} {
		if len(by[v]) > 0 {
			parts = append(parts, "makes "+display.List(by[v])+" "+dressed(v))
		}
	}
	return strings.Join(parts, ", ")
}
