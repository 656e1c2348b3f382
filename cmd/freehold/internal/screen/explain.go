package screen

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/freehold-dev/freehold/cmd/freehold/internal/cli"
	"github.com/freehold-dev/freehold/cmd/internal/display"
	"github.com/freehold-dev/freehold/cmd/internal/verbs"
	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/reader/explain"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/adopt"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/spf13/cobra"
)

func newExplain(c *cli.Call) *cobra.Command {
	p := cli.Looking()
	cmd := c.Command(&cobra.Command{
		Use:   "explain FIELD",
		Short: "print the writer of a field, the time, and whether the value is still true",
		Long: `Print the value of a field, and whether it is fresh or why not; then, for each
owner, the program, time and version of the last write, the versions that the writer
had seen, the file, and the command that writes it. An unset field is explained too
(exit status 0), with the value that a quarantined sidecar may have. If the sidecar
cannot be used, the exit status is 3.

A field that depends on others is fresh, stale, ambiguous or unknown: by the change
that overtook the versions seen; and so are its dependencies.`,
		Example: "  freehold explain context_cleared",
		Args:    cli.Operands(1, 1, "a FIELD"),
	}, func(ctx context.Context, args []string) error {
		view, err := p.View(ctx)
		if err != nil {
			return err
		}
		if _, _, err := verbs.Declared(view, args[0]); err != nil {
			return err
		}
		e := explain.Field(view, args[0])
		if c.JSON {
			advise(c, e, view.Dir())
			err = c.PrintJSON(e)
		} else {
			err = c.Styled(told(c, e, time.Now()))
		}
		return errors.Join(err, e.Err)
	})
	p.Flags(cmd)
	p.Completes(cmd, verbs.Operands("FIELD").Complete)
	return cmd
}

// advise adds the remedies, with the state's directory, to the errors of e.
func advise(c *cli.Call, e *explain.Explanation, dir string) {
	if e.Err != nil {
		e.Error = c.WithRemedies(e.Err, dir)
	}
	for i := range e.Unshown {
		e.Unshown[i].Error = c.WithRemedies(e.Unshown[i].Err, dir)
	}
}

// An explanation is the text about a field: a verdict, and rows with labels.
type explanation struct {
	*explain.Explanation
	call *cli.Call
	now  time.Time
	rows []labelled
}

type labelled struct {
	label, text string
	look        cli.Look
}

// row adds a row.
func (t *explanation) row(label, format string, args ...any) {
	t.rows = append(t.rows, labelled{label, display.Escape(fmt.Sprintf(format, args...)), cli.Plain})
}

// told returns e in words: first the verdict, then a list of all that led to it.
func told(c *cli.Call, e *explain.Explanation, now time.Time) string {
	t := &explanation{Explanation: e, call: c, now: now}
	for _, p := range e.Parts {
		t.part(p)
	}
	for _, p := range e.Unshown {
		t.row("pending", "%s", display.Line(c.WithRemedies(verbs.Unshown(e.Field, p), "")))
	}
	for _, o := range e.Open {
		t.row("begun", "%s: %s, process %d, and not done: `%s` ends it, with --abandon if its effect is not known",
			t.when(o.BegunAt), o.Program, o.PID, c.Line(store.By("done", e.Parts[0].Owner, e.Field, o.Token.String()), ""))
	}
	for i, l := range e.Chain {
		t.link(l, i == 0)
	}
	if e.Doc != "" {
		t.row("meaning", "%s", e.Doc)
	}
	t.row("kind", "%s", display.Kind(e.Declared))
	return c.Hanging("", t.verdict(), "  ") + t.list()
}

// verdict returns the first line: the value, and whether it is fresh or why not.
func (t *explanation) verdict() string {
	name := cli.Strong.Render(t.Field)
	if t.Err != nil {
		return name + cli.Bad.Render(display.Escape(fmt.Sprintf(" cannot be read: the file of owner %s is %s", t.Obstacle, string(t.ObstacleStatus))))
	}
	value := cli.Faint.Render(display.Unset)
	if t.Set {
		article := map[schema.Kind]string{schema.Set: "a set of ", schema.Map: "a map of "}[t.Kind]
		value = display.Escape(article + withUnit(t.Declared, t.Value))
	}
	if t.Set && t.Kind == schema.Event {
		value += ", the time at which it was done last"
	}
	if len(t.Chain) == 0 {
		return name + " is " + value
	}
	fresh := t.Chain[0].Freshness
	if fresh.Fresh() {
		return name + " is " + value + ": " + dressed(fresh.Verdict)
	}
	return name + " is " + value + ": " + look(headFreshness, string(fresh.Verdict), false).Render(fmt.Sprintf("%s (%s)", fresh.Verdict, fresh.Reason)) + ": " + display.Escape(fresh.Says)
}

// list returns the rows, aligned; on a narrow terminal the texts are below their
// labels.
func (t *explanation) list() string {
	longest := 0
	for _, r := range t.rows {
		longest = max(longest, len(r.label))
	}
	width, terminal := t.call.Terminal()
	text := ""
	for _, r := range t.rows {
		if label := cli.Faint.Render(r.label); terminal && width < 60 {
			text += "  " + label + "\n" + t.call.Hanging("    ", r.look.Render(r.text), "    ")
			continue
		}
		indent := strings.Repeat(" ", 2+longest+len(gap))
		text += t.call.Hanging("  "+cli.Faint.Render(padded(r.label, longest))+gap, r.look.Render(r.text), indent)
	}
	return text
}

// when returns an instant and its age.
func (t *explanation) when(at time.Time) string {
	text := age(t.now.Sub(at))
	if text != ahead {
		text += " ago"
	}
	return fmt.Sprintf("%s (%s)", display.Exact(at), text)
}

// withUnit returns a stored value for a sentence.
func withUnit(f schema.Field, raw []byte) string {
	return strings.TrimSpace(display.Value(f, raw) + " " + f.Unit)
}

// part describes one owner's part of the field.
func (t *explanation) part(p explain.Part) {
	switch members := display.List(p.Members); {
	case p.Keys && members != "":
		t.row("owner", "%s decides the keys, and has %s at each", p.Owner, members)
	case p.Keys:
		t.row("owner", "%s decides the keys", p.Owner)
	case members != "":
		t.row("owner", "%s has %s at each key", p.Owner, members)
	}
	switch {
	case p.Written():
		t.row("who", "%s, process %d, as owner %s", p.Program, p.PID, p.Owner)
		t.row("when", "%s, %s %s", t.when(p.ChangedAt), t.act(p), commitOf(p.Provenance))
	case p.Earlier != nil:
		t.row("who", "nobody as owner %s since an earlier sidecar went to the quarantine", p.Owner)
		t.earlier(p.Earlier, p.Declared)
	case p.LockLost:
		t.row("who", "unknown: neither the file nor the lock file of owner %s is there", p.Owner)
	case p.Status == store.OK || p.Status == store.Missing:
		t.row("who", "nobody yet: owner %s has never written it", p.Owner)
	default:
		t.row("who", "the file does not tell whether owner %s has written it", p.Owner)
	}
	if t.seen(p.Observed); len(t.Chain) > 0 {
		t.row("depends on", "%s", display.List(t.Chain[0].DependsOn))
	}
	t.row("file", "%s, %s", p.File, condition[p.Status])
	if p.Status != store.OK && p.Status != store.Missing {
		t.rows[len(t.rows)-1].look = cli.Bad
		t.row("write", "no process does until that file is mended; then code below %s", p.Home)
		return
	}
	t.row("write", "`%s`, or code below %s", t.call.Line(verbs.Command(p.Owner, t.Field, p.Declared), ""), p.Home)
	if p.Declared.Dependent() {
		t.row("token", "`%s` prints the TOKEN; run it before the data is gathered", t.call.Line(store.By("observe", t.Field), ""))
	}
}

// act names the last act of the part's owner.
func (t *explanation) act(p explain.Part) string {
	if file, ok := adopt.Source(p.Program); ok {
		return "adopted from " + file
	}
	switch {
	case sidecar.WasAccepted(p.Program, p.Version):
		return "accepted as another hand had left it"
	case !t.Set && t.Err == nil && t.Kind == schema.Value:
		return "cleared"
	}
	return map[schema.Kind]string{
		schema.Value: "set", schema.Counter: "last added to", schema.Max: "raised", schema.Min: "lowered",
		schema.Set: "last changed", schema.Map: "last changed", schema.Once: "by", schema.Event: "when a beginning was done or abandoned",
	}[t.Kind]
}

// commitOf names the commit, the claim or the pending patch of the last write.
func commitOf(p reader.Provenance) string {
	switch {
	case p.Claim != "":
		return "claim " + p.Claim
	case p.Version.IsPending():
		return "in patch " + p.Version.Nonce + ", which is deferred and in no commit yet"
	}
	return "in version " + p.Version.String()
}

// condition puts the status of a sidecar into words.
var condition = map[store.Status]string{
	store.OK:         "as Freehold left it",
	store.Missing:    "not there yet",
	store.Invalid:    "not of Freehold's format",
	store.Newer:      "of a newer release",
	store.Foreign:    "not as Freehold left it: another hand has changed it",
	store.Unreadable: "there and cannot be read",
	store.Regressed:  "older than it has been, or gone since",
}

// earlier describes the value in a quarantined sidecar.
func (t *explanation) earlier(e *explain.Earlier, f schema.Field) {
	const again = "; to keep a value from there, write it again"
	switch {
	case e.Unread:
		t.row("quarantine", "%s cannot be read, and may have had the field%s", e.Path, again)
	case e.Value == nil:
		t.row("quarantine", "%s has the field%s", e.Path, again)
	default:
		t.row("quarantine", "%s has %s%s", e.Path, withUnit(f, e.Value), again)
	}
}

// link describes the freshness by single dependencies of the field, or that of a
// dependency which depends on others.
func (t *explanation) link(l explain.Link, own bool) {
	fresh := l.Freshness
	if !own {
		t.row("chain", "%s depends on %s, and is %s (%s): %s", l.Field, display.List(l.DependsOn), fresh.Verdict, fresh.Reason, fresh.Says)
	}
	for _, f := range l.Dependencies {
		if f.Field != fresh.Field && !fresh.Fresh() {
			t.row("chain", "by %s alone %s would be %s (%s): %s", f.Field, l.Field, f.Verdict, f.Reason, f.Says)
		}
	}
}

// seen lists the versions that the writer of the field had seen.
func (t *explanation) seen(observed store.Seen) {
	var parts []string
	for _, name := range observed.Fields() {
		switch version, _ := observed.Version(name); {
		case version.IsZero():
			parts = append(parts, name+" when nobody had written it")
		case version.IsPending():
			parts = append(parts, name+" in patch "+version.Nonce+", which was deferred")
		default:
			parts = append(parts, name+" in version "+version.String())
		}
	}
	if len(parts) > 0 {
		t.row("observed", "%s", display.List(parts))
	}
}
