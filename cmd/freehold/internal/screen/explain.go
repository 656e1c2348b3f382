package screen

import (
	"context"
	"errors"
	"strings"

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
	p := &cli.Place{Looks: true}
	cmd := c.Command(&cobra.Command{
		Use:   "explain FIELD",
		Short: "print the writer of a field, the time, and whether the value is still true",
		Long: `Print in words the value of a field and, for each owner, the last write: its
time, program, version and file. An unset field is explained too (exit status 0),
with the value that a quarantined sidecar may have. If the sidecar cannot be used,
the exit status is 3.

A field that depends on others is also explained as fresh, stale, ambiguous or
unknown: with the versions that its writer had seen, the change that overtook
them, and the same of its dependencies.`,
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
			err = c.Print(c.Prose(sentences(c, e)))
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

// An explanation is the text about a field.
type explanation struct {
	*explain.Explanation
	call *cli.Call
	cli.Text
}

// sentences returns e in words, a sentence in each line.
func sentences(c *cli.Call, e *explain.Explanation) string {
	t := &explanation{Explanation: e, call: c}
	switch {
	case e.Err != nil:
		t.Line("%s cannot be read: the file of owner %s is %s.", e.Field, e.Obstacle, string(e.ObstacleStatus))
	case e.Set:
		article := map[schema.Kind]string{schema.Set: "a set of ", schema.Map: "a map of "}[e.Kind]
		t.Line("%s is %s%s.", e.Field, article+withUnit(e.Declared, e.Value), map[bool]string{true: ", the time at which it was done last"}[e.Kind == schema.Event])
	default:
		t.Line("%s is unset.", e.Field)
	}
	for _, p := range e.Unshown {
		t.Line("%s.", display.Line(c.WithRemedies(verbs.Unshown(e.Field, p), "")))
	}
	for _, p := range e.Parts {
		t.part(p)
	}
	for _, o := range e.Open {
		t.Line("It began at %s: %s, process %d, and is not done: `%s` ends it, with --abandon if its effect is not known.",
			display.Exact(o.BegunAt), o.Program, o.PID, c.Line(store.By("done", e.Parts[0].Owner, e.Field, o.Token.String()), ""))
	}
	for i, l := range e.Chain {
		t.link(l, i == 0)
	}
	if e.Doc != "" {
		t.Line("Its meaning: %s", e.Doc)
	}
	t.Line("It is a %s.", display.Kind(e.Declared))
	return t.String()
}

// withUnit returns a stored value for a sentence.
func withUnit(f schema.Field, raw []byte) string {
	return strings.TrimSpace(display.Value(f, raw) + " " + f.Unit)
}

// part describes one owner's part of the field.
func (t *explanation) part(p explain.Part) {
	switch members := display.List(p.Members); {
	case p.Keys && members != "":
		t.Line("Owner %s decides the keys, and has %s at each.", p.Owner, members)
	case p.Keys:
		t.Line("Owner %s decides the keys.", p.Owner)
	case members != "":
		t.Line("Owner %s has %s at each key.", p.Owner, members)
	}
	switch {
	case p.Written():
		t.Line("Owner %s %s at %s: %s, process %d, %s.", p.Owner, t.act(p), display.Exact(p.ChangedAt), p.Program, p.PID, commitOf(p.Provenance))
	case p.Earlier != nil:
		t.Line("Owner %s has not written it since an earlier sidecar went to the quarantine.", p.Owner)
		t.earlier(p.Earlier, p.Declared)
	case p.Status == store.OK || p.Status == store.Missing:
		t.Line("Owner %s has never written it.", p.Owner)
	default:
		t.Line("The file does not tell whether owner %s has written it.", p.Owner)
	}
	t.Line("It belongs in %s, which is %s.", p.File, condition[p.Status])
	if p.Status != store.OK && p.Status != store.Missing {
		t.Line("Until that file is mended, no process writes it; then code below %s does.", p.Home)
		return
	}
	t.Line("`%s` writes it, and so does code below %s.", t.call.Line(verbs.Command(p.Owner, t.Field, p.Declared), ""), p.Home)
	if p.Declared.Dependent() {
		t.Line("`%s` prints the TOKEN; run it before the data is gathered.", t.call.Line(store.By("observe", t.Field), ""))
	}
}

// act returns the last act of the part's owner, as a verb.
func (t *explanation) act(p explain.Part) string {
	if file, ok := adopt.Source(p.Program); ok {
		return "adopted it from " + file
	}
	switch {
	case sidecar.WasAccepted(p.Program, p.Version):
		return "accepted it, as another hand had left it,"
	case !t.Set && t.Err == nil && t.Kind == schema.Value:
		return "cleared it"
	}
	return map[schema.Kind]string{
		schema.Value: "set it", schema.Counter: "last added to it", schema.Max: "raised it", schema.Min: "lowered it",
		schema.Set: "last changed it", schema.Map: "last changed it", schema.Once: "claimed it", schema.Event: "last ended a beginning of it, done or abandoned,",
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
	switch {
	case e.Unread:
		t.Line("That cannot be read, and may have had the field: %s.", e.Path)
	case e.Value == nil:
		t.Line("That has the field: %s.", e.Path)
	default:
		t.Line("There it is %s: %s.", withUnit(f, e.Value), e.Path)
	}
	t.Line("To keep a value from there, write it again.")
}

// link describes the freshness of the field, or of a dependency of the field.
func (t *explanation) link(l explain.Link, own bool) {
	fresh := l.Freshness
	if own {
		t.Line("It depends on %s.", display.List(l.DependsOn))
		t.seen(t.Parts[0].Observed)
		t.Line("It is %s (%s): %s.", fresh.Verdict, fresh.Reason, fresh.Says)
	} else {
		t.Line("%s in turn depends on %s, and is %s (%s): %s.", l.Field, display.List(l.DependsOn), fresh.Verdict, fresh.Reason, fresh.Says)
	}
	for _, f := range l.Dependencies {
		if f.Field != fresh.Field && !fresh.Fresh() {
			t.Line("By %s alone it would be %s (%s): %s.", f.Field, f.Verdict, f.Reason, f.Says)
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
		t.Line("Its writer had seen %s.", display.List(parts))
	}
}
