package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/freehold-dev/freehold/cmd/freehold/internal/cli"
	"github.com/freehold-dev/freehold/cmd/internal/display"
	"github.com/freehold-dev/freehold/cmd/internal/verbs"
	"github.com/freehold-dev/freehold/reader/explain"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/adopt"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/spf13/cobra"
)

func newExplain(c *cli.Call) *cobra.Command {
	p := &cli.Place{}
	cmd := c.Command(&cobra.Command{
		Use:   "explain FIELD",
		Short: "print the writer of a field, the time, and whether the value is still true",
		Long: `Print in words the value of a field, its owner, and its writer: when, in which
version and in which file; or why it has none, whether a quarantined sidecar may
have one, and the remedy. Of a field that depends on others it also says whether
it is fresh: if not, the version that its writer had seen, the one that overtook
that, its writer and its time; and the same of the fields that those depend on.
Unset is an explanation too: the exit status is 0. It is 3 if the owner's sidecar
cannot be used.`,
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
			err = c.Print(c.Prose(explaining{c, e}.text()))
		}
		return errors.Join(err, e.Err)
	})
	p.Flags(cmd)
	p.Completes(cmd, verbs.Operands("FIELD").Complete)
	return cmd
}

// An explaining makes sentences of an explanation.
type explaining struct {
	*cli.Call
	*explain.Explanation
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

// text returns the explanation in sentences.
func (e explaining) text() string {
	if e.Kind == schema.Map {
		return e.mapText()
	}
	var t sentences
	switch {
	case e.Err != nil:
		t.say("%s cannot be read: what owner %s wrote is %s.", e.Field, e.Obstacle, string(e.Status))
	case e.Earlier != nil:
		t.say("%s is unset: owner %s has not written it since an earlier sidecar of it went to the quarantine.", e.Field, e.Owner)
		t.earlier(e.Earlier, e.Declared, "")
	case e.Kind == schema.Event && !e.Set:
		t.say("%s is unset: the event was never done.", e.Field)
	case e.Set:
		t.say("%s is %s.", e.Field, e.value())
		t.say("Owner %s %s at %s.", e.Owner, did(e.Origin, wrote[e.Kind], "it"), when(e.Origin))
	case e.Written:
		t.say("%s is unset.", e.Field)
		t.say("Owner %s cleared it at %s.", e.Owner, when(e.Origin))
	case e.Kind == schema.Once:
		t.say("%s is unset: nobody has claimed it.", e.Field)
	default:
		t.say("%s is unset: owner %s has never written it.", e.Field, e.Owner)
	}
	t.pending(e.Call, e.Field, e.Unshown)
	t.begun(e.Call, e.Owner, e.Field, e.Open)
	t.freshness(e)
	t.say("It belongs in %s, which is %s.", display.Escape(e.File), condition[e.Status])
	if e.Doc != "" {
		t.say("Its meaning: %s", display.Escape(e.Doc))
	}
	t.say("It is a %s; `%s` writes it, and so does code below %s.", display.Kind(e.Declared), e.Line(verbs.Command(e.Owner, e.Field, e.Declared), ""), display.Escape(e.Home))
	if e.Declared.Dependent() {
		t.say("`%s` prints the TOKEN; run it before the data is gathered.", e.Line(store.Remedy{Verb: "observe", Args: []string{e.Field}}, ""))
	}
	return t.text()
}

// unshown says what may give the field another value.
func (t *sentences) pending(c *cli.Call, field string, problems []explain.PendingProblem) {
	for _, p := range problems {
		t.say("%s.", display.Escape(display.Line(c.WithRemedies(verbs.Unshown(field, p), ""))))
	}
}

// shown returns the value for a sentence.
func (e explaining) value() string {
	if e.Kind == schema.Set {
		return "a set of " + display.Value(e.Declared, e.Value)
	}
	return strings.TrimSpace(display.Value(e.Declared, e.Value) + " " + display.Escape(e.Unit))
}

// did says what the last to write did to what, which is otherwise unless it took
// over what others had written.
func did(o explain.Origin, otherwise, what string) string {
	if file, ok := adopt.Source(o.Program); ok {
		return "adopted " + what + " from " + display.Escape(file)
	}
	if sidecar.WasAccepted(o.Program, o.Version) {
		return "accepted " + what + ", as another hand had left it,"
	}
	return otherwise
}

// when says when something was written or claimed, by whom and in which
// version.
func when(o explain.Origin) string {
	if o.Claim != "" {
		return fmt.Sprintf("%s: %s, process %d, claim %s", o.ChangedAt, display.Escape(o.Program), o.PID, o.Claim)
	}
	if o.Version.IsPending() {
		return fmt.Sprintf("%s: %s, process %d, in patch %s, which is deferred and in no commit yet", o.ChangedAt, display.Escape(o.Program), o.PID, o.Version.Nonce)
	}
	return fmt.Sprintf("%s: %s, process %d, in version %s", o.ChangedAt, display.Escape(o.Program), o.PID, o.Version)
}

// sentences are lines of text.
type sentences []string

func (t *sentences) say(format string, args ...any) { *t = append(*t, fmt.Sprintf(format, args...)) }

func (t sentences) text() string { return strings.Join(t, "\n") + "\n" }

// wrote is what an owner did to a field of each kind.
var wrote = map[schema.Kind]string{
	schema.Value: "set it", schema.Counter: "last added to it", schema.Max: "raised it", schema.Min: "lowered it", schema.Set: "last changed it",
	schema.Once: "claimed it", schema.Event: "last ended it",
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

// begun says what of an event is open, and how to end it.
func (t *sentences) begun(c *cli.Call, owner, field string, open []explain.Opening) {
	for _, o := range open {
		t.say("It began at %s: %s, process %d, and is not done: `%s` ends it, with --abandon if it failed or nobody knows.",
			o.BegunAt, display.Escape(o.Program), o.PID, c.Line(store.Remedy{Verb: "done", Args: []string{owner, field, o.Token.String()}}, ""))
	}
}
