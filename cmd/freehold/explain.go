package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"
)

func newExplain(c *cli) *cobra.Command {
	p := &place{}
	cmd := c.command(&cobra.Command{
		Use:   "explain FIELD",
		Short: "say who wrote a field, when and in which version",
		Long: `Say in words what value a field has, whose it is, and who wrote it, when, in
which version and in which file; or why it has none, and what to do. Unset is
an explanation too: the exit status is 0. It is 3 if the owner's sidecar cannot
be used.`,
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
			err = c.printJSON(e)
		} else {
			err = c.print(e.text())
		}
		return errors.Join(err, e.err)
	})
	p.flags(cmd)
	p.completes(cmd, completeField)
	return cmd
}

// An explanation is what is known about one field.
type explanation struct {
	Field     string          `json:"field"`
	Value     jsontext.Value  `json:"value,omitzero"`
	Set       bool            `json:"set"`
	Owner     string          `json:"owner"`
	File      string          `json:"file"`
	Status    reader.Status   `json:"status"`
	Version   sidecar.Version `json:"version,omitzero"`
	ChangedAt string          `json:"changed_at,omitzero"`
	Program   string          `json:"program,omitzero"`
	PID       int             `json:"pid,omitzero"`
	Type      schema.Type     `json:"type"`
	Kind      schema.Kind     `json:"kind"`
	Unit      string          `json:"unit,omitzero"`
	Doc       string          `json:"doc,omitzero"`
	Error     string          `json:"error,omitzero"`

	err      error // why the value cannot be had, unless it is unset
	declared schema.Field
	home     string // of the owner
	written  bool   // somebody wrote or cleared the field
}

func explain(view *reader.View, field string) *explanation {
	d := view.Declaration()
	owner, _ := d.OwnerOf(field)
	status, _ := view.Owner(owner)
	f := d.Owners[owner].Fields[field]
	e := &explanation{
		Field: field, Owner: owner, File: status.File, Status: status.Status,
		Type: f.Type, Kind: f.EffectiveKind(), Unit: f.Unit, Doc: f.Doc, declared: f, home: d.Owners[owner].Home,
	}
	raw, err := view.Field(field).Raw()
	e.Set = err == nil
	if e.Set {
		e.Value = raw
	} else if !errors.Is(err, reader.ErrUnset) {
		e.err, e.Error, e.Status = err, err.Error(), fieldStatus(view, owner)
	}
	if by, ok := view.Field(field).Provenance(); ok && !by.Version.IsZero() {
		e.written = true
		e.Version, e.ChangedAt, e.Program, e.PID = by.Version, instant(by.ChangedAt), by.Program, by.PID
	}
	return e
}

// text returns the explanation in sentences.
func (e *explanation) text() string {
	var lines []string
	say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	switch {
	case e.err != nil:
		say("%s cannot be read: what owner %s wrote is %s.", e.Field, e.Owner, e.Status)
	case e.Set:
		say("%s is %s.", e.Field, strings.TrimSpace(shown(e.declared.Text(e.Value))+" "+visible(e.Unit)))
		say("Owner %s %s it at %s: %s, process %d, in version %s.", e.Owner, wrote[e.Kind], e.ChangedAt, visible(e.Program), e.PID, e.Version)
	case e.written:
		say("%s is unset.", e.Field)
		say("Owner %s cleared it at %s: %s, process %d, in version %s.", e.Owner, e.ChangedAt, visible(e.Program), e.PID, e.Version)
	default:
		say("%s is unset: owner %s has never written it.", e.Field, e.Owner)
	}
	say("It belongs in %s, which is %s.", visible(e.File), condition[e.Status])
	if e.Doc != "" {
		say("Its meaning: %s", visible(e.Doc))
	}
	say("It is a %s of type %s; `freehold %s %s %s` writes it, and so does code below %s.",
		e.Kind, e.Type, verbs[e.Kind], e.Owner, operandOf(e.Kind, e.Field), visible(e.home))
	return strings.Join(lines, "\n") + "\n"
}

// What an owner did to a field of each kind, and the command that does it.
var (
	wrote = map[schema.Kind]string{schema.Value: "set", schema.Counter: "last added to", schema.Max: "raised", schema.Min: "lowered"}
	verbs = map[schema.Kind]string{schema.Value: "set", schema.Counter: "add", schema.Max: "raise", schema.Min: "lower"}
)

// operandOf returns the operand of a field's command.
func operandOf(k schema.Kind, field string) string {
	if k == schema.Value {
		return field + "=VALUE"
	}
	return field + " VALUE"
}

// condition puts the status of a sidecar into words.
var condition = map[reader.Status]string{
	reader.OK:         "as Freehold left it",
	reader.Missing:    "not there yet",
	reader.Invalid:    "not of Freehold's format",
	reader.Foreign:    "not as Freehold left it: another hand has changed it",
	reader.Unreadable: "there and cannot be read",
}
