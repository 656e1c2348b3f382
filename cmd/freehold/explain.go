package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/adopt"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"
)

func newExplain(c *cli) *cobra.Command {
	p := &place{}
	cmd := c.command(&cobra.Command{
		Use:   "explain FIELD",
		Short: "say who wrote a field, when, and whether that is still true",
		Long: `Say in words what value a field has, whose it is, and who wrote it, when, in
which version and in which file; or why it has none, where an earlier sidecar
that was quarantined may have one, and what to do. Of a field that depends on
others it also says whether it is fresh: if not, what its writer had seen and what
has overtaken that, by whom and when; and the same of what those depend on in
turn. Unset is an explanation too: the exit status is 0. It is 3 if the owner's
sidecar cannot be used.`,
		Example: "  freehold explain context_cleared",
		Args:    operands(1, 1, "a FIELD"),
	}, func(ctx context.Context, args []string) error {
		view, err := p.view(ctx)
		if err != nil {
			return err
		}
		if _, err := declaredField(view, args[0]); err != nil {
			return err
		}
		e := explain(view, args[0])
		if c.json {
			e.advise(func(text string) string { return c.standalone(text, view.Dir()) })
			err = c.printJSON(e)
		} else {
			err = c.print(c.prose(c.runnable(e.text())))
		}
		return errors.Join(err, e.err)
	})
	p.flags(cmd)
	p.completes(cmd, completeField)
	return cmd
}

// An explanation is what is known about one field.
type explanation struct {
	Field string         `json:"field"`
	Value jsontext.Value `json:"value,omitzero"`
	Set   bool           `json:"set"`
	origin
	Type  schema.Type `json:"type,omitzero"` // a map has none
	Kind  schema.Kind `json:"kind"`
	Unit  string      `json:"unit,omitzero"`
	Doc   string      `json:"doc,omitzero"`
	Parts []part      `json:"parts,omitempty"` // of a map
	Error string      `json:"error,omitzero"`

	DependsOn    []string         `json:"depends_on,omitempty"`
	Freshness    *freshnessCode   `json:"freshness,omitempty"` // of what depends on others
	Dependencies []*freshnessCode `json:"dependencies,omitempty"`
	Chain        []link           `json:"chain,omitempty"` // of what it depends on in turn
	Observed     sidecar.Seen     `json:"observed,omitzero"`
	Open         []opening        `json:"open,omitempty"`    // of an event
	Unshown      []string         `json:"unshown,omitempty"` // what may give it another value
	Earlier      *earlier         `json:"earlier,omitempty"` // what has a value of it and does not count

	freshness sentences
	open      []reader.Opening
	err       error // why the value cannot be had, unless it is unset
	declared  schema.Field
	bad       string // the owner because of which it cannot be had
}

// An opening is what has begun of an event and is not done.
type opening struct {
	Token   sidecar.EventToken `json:"token"`
	Version sidecar.Version    `json:"version"`
	BegunAt string             `json:"begun_at"`
	Program string             `json:"program"`
	PID     int                `json:"pid"`
}

// A freshnessCode is a freshness as data.
type freshnessCode struct {
	Verdict reader.Verdict `json:"verdict"`
	Reason  reader.Reason  `json:"reason"`
	Field   string         `json:"field,omitzero"` // the one that decided
	Says    string         `json:"says"`
}

func codeOf(f reader.Freshness) *freshnessCode {
	return &freshnessCode{f.Verdict, f.Reason, f.Field, f.String()}
}

// An origin is where a value, or an owner's part of it, comes from.
type origin struct {
	Owner     string          `json:"owner"`
	File      string          `json:"file"`
	Status    reader.Status   `json:"status"`
	Version   sidecar.Version `json:"version,omitzero"`
	Claim     string          `json:"claim,omitzero"`      // of a once field, in the place of a version
	ChangedAt string          `json:"changed_at,omitzero"` // exactly; at is for eyes
	Program   string          `json:"program,omitzero"`
	PID       int             `json:"pid,omitzero"`

	at      string
	home    string // of the owner
	written bool   // somebody wrote or cleared it
}

// originOf returns where what owner has in a field comes from.
func originOf(view *reader.View, field, owner string) origin {
	status, _ := view.Owner(owner)
	o := origin{Owner: owner, File: status.File, Status: status.Status, home: view.Declaration().Owners[owner].Home}
	if by, ok := provenanceOf(view, field, owner); ok {
		o.written = true
		o.Version, o.Claim, o.Program, o.PID = by.Version, by.Claim, by.Program, by.PID
		o.at, o.ChangedAt = instant(by.ChangedAt), exactly(by.ChangedAt)
	}
	if view.Declaration().Owners[owner].Fields[field].EffectiveKind() == schema.Once {
		by, _ := view.Field(field).Provenance()
		o.File, o.Status = by.File, by.Status
	}
	return o
}

func explain(view *reader.View, field string) *explanation {
	owner, _ := view.Declaration().OwnerOf(field)
	f, _ := view.Declaration().Joined(field)
	e := &explanation{
		Field: field, origin: originOf(view, field, owner),
		Type: f.Type, Kind: f.EffectiveKind(), Unit: f.Unit, Doc: f.Doc, Parts: partsOf(view, field), declared: f,
	}
	e.Unshown = unshown(view, field)
	e.open = view.Field(field).Open()
	for _, o := range e.open {
		e.Open = append(e.Open, opening{o.Token, o.Version, exactly(o.BegunAt), o.Program, o.PID})
	}
	if f.Dependent() {
		fresh := view.Field(field).Freshness()
		by, _ := view.Field(field).Provenance()
		e.DependsOn, e.Observed = f.DependsOn, by.Observed
		e.Freshness = codeOf(fresh)
		e.Dependencies, e.Chain = codesOf(view, field), chainOf(view, field)
		e.freshness = freshness(view, field)
	}
	if !e.written && e.Kind != schema.Once && e.Kind != schema.Map {
		e.Earlier = earlierOf(view, owner, field)
	}
	raw, err := view.Field(field).Raw()
	e.Set = err == nil
	if e.Set {
		e.Value = raw
	} else if !errors.Is(err, reader.ErrUnset) {
		e.err, e.Error = err, err.Error()
		e.bad, e.Status = culprit(view, field)
	}
	return e
}

// advise puts what says returns in the place of each text that may name a command.
func (e *explanation) advise(says func(text string) string) {
	e.Error = says(e.Error)
	for i, text := range e.Unshown {
		e.Unshown[i] = says(text)
	}
	codes := append(e.Dependencies, e.Freshness)
	for _, l := range e.Chain {
		codes = append(append(codes, l.Dependencies...), l.Freshness)
	}
	for _, f := range codes {
		if f != nil {
			f.Says = says(f.Says)
		}
	}
}

// text returns the explanation in sentences.
func (e *explanation) text() string {
	if e.Kind == schema.Map {
		return e.mapText()
	}
	var t sentences
	switch {
	case e.err != nil:
		t.say("%s cannot be read: what owner %s wrote is %s.", e.Field, e.bad, e.Status)
	case e.Earlier != nil:
		t.say("%s is unset: owner %s has not written it since an earlier sidecar of it went to the quarantine.", e.Field, e.Owner)
		e.Earlier.explain(&t, e.declared, "")
	case e.Kind == schema.Event && !e.Set:
		t.say("%s is unset: the event was never done.", e.Field)
	case e.Set:
		t.say("%s is %s.", e.Field, e.shown())
		t.say("Owner %s %s at %s.", e.Owner, e.did(wrote[e.Kind], "it"), e.when())
	case e.written:
		t.say("%s is unset.", e.Field)
		t.say("Owner %s cleared it at %s.", e.Owner, e.when())
	case e.Kind == schema.Once:
		t.say("%s is unset: nobody has claimed it.", e.Field)
	default:
		t.say("%s is unset: owner %s has never written it.", e.Field, e.Owner)
	}
	t.unshown(e.Unshown)
	t.begun(e.Owner, e.Field, e.open)
	t = append(t, e.freshness...)
	t.say("It belongs in %s, which is %s.", visible(e.File), condition[e.Status])
	if e.Doc != "" {
		t.say("Its meaning: %s", visible(e.Doc))
	}
	t.say("It is a %s; `%s` writes it, and so does code below %s.", called(e.declared), commandOf(e.Owner, e.Field, e.declared), visible(e.home))
	if e.declared.Dependent() {
		t.say("`freehold observe %s` prints the TOKEN; run it before the data is gathered.", e.Field)
	}
	return t.text()
}

// unshown says what may give the field another value.
func (t *sentences) unshown(each []string) {
	for _, says := range each {
		t.say("%s.", visible(says))
	}
}

// shown returns the value for a sentence.
func (e *explanation) shown() string {
	if e.Kind == schema.Set {
		return "a set of " + shownValue(e.declared, e.Value)
	}
	return strings.TrimSpace(shownValue(e.declared, e.Value) + " " + visible(e.Unit))
}

// did says what the last to write did to what, which is otherwise unless it took
// over what others had written.
func (o origin) did(otherwise, what string) string {
	if file, ok := adopt.Source(o.Program); ok {
		return "adopted " + what + " from " + visible(file)
	}
	if sidecar.WasAccepted(o.Program, o.Version) {
		return "accepted " + what + ", as another hand had left it,"
	}
	return otherwise
}

// when says when something was written or claimed, by whom and in which
// version.
func (o origin) when() string {
	if o.Claim != "" {
		return fmt.Sprintf("%s: %s, process %d, claim %s", o.ChangedAt, visible(o.Program), o.PID, o.Claim)
	}
	if o.Version.IsPending() {
		return fmt.Sprintf("%s: %s, process %d, in patch %s, which is deferred and in no commit yet", o.ChangedAt, visible(o.Program), o.PID, o.Version.Nonce)
	}
	return fmt.Sprintf("%s: %s, process %d, in version %s", o.ChangedAt, visible(o.Program), o.PID, o.Version)
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
var condition = map[reader.Status]string{
	reader.OK:         "as Freehold left it",
	reader.Missing:    "not there yet",
	reader.Invalid:    "not of Freehold's format",
	reader.Foreign:    "not as Freehold left it: another hand has changed it",
	reader.Unreadable: "there and cannot be read",
	reader.Regressed:  "older than it has been, or gone since",
}
