package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A writing is what the commands that commit have in common.
type writing struct {
	*cli
	place
	hand
	version string      // that the sidecar must be at
	given   *pflag.Flag // of version
}

func (w *writing) flags(cmd *cobra.Command) {
	w.place.flags(cmd)
	w.hand.flags(cmd)
	cmd.Flags().StringVar(&w.version, "if-version", "", "commit only if the sidecar is at `VERSION`, as commits and views print it")
	w.given = cmd.Flags().Lookup("if-version")
}

// A drafter turns the operands of a command into the operations of a patch,
// by the declaration of the state.
type drafter func(d *schema.Declaration) (sidecar.Patch, error)

// commit writes as owner, in one commit, and reports what became of it.
func (w *writing) commit(ctx context.Context, owner string, draft drafter) error {
	options, err := w.options()
	if err != nil {
		return err
	}
	version, err := parseVersion(w.version)
	if err != nil {
		return err
	}
	dir, err := w.find()
	if err != nil {
		return err
	}
	writer, err := sidecar.Open(ctx, dir, nil, owner, options)
	if err != nil {
		return w.advise(err, owner, draft)
	}
	defer writer.Close()
	patch, err := draft(writer.Declaration())
	if err != nil {
		return err
	}
	r := commitReport{Owner: owner, Fields: map[string]change{}}
	commit, err := writer.Update(ctx, func(tx *sidecar.Tx) error {
		if w.given.Changed { // an empty version is that of a sidecar never written
			tx.IfVersion(version)
		}
		r.carryOut(tx, patch)
		return nil
	})
	if err != nil {
		return err
	}
	r.Outcome, r.Version = commit.Outcome.String(), commit.Version
	r.Changed = commit.Outcome == sidecar.Applied
	return w.report(r, r.text(writer.Declaration().Owners[owner]))
}

// advise adds to the error about an unknown owner whose the fields are.
func (w *writing) advise(err error, owner string, draft drafter) error {
	if !errors.Is(err, sidecar.ErrNotOwner) {
		return err
	}
	d, derr := w.declaration()
	if derr != nil {
		return err
	}
	if _, derr := draft(d); derr != nil {
		if h, ok := errors.AsType[hinted](derr); ok {
			return hinted{err, h.hint}
		}
	}
	return err
}

func parseVersion(text string) (sidecar.Version, error) {
	var v sidecar.Version
	if err := v.UnmarshalText([]byte(text)); err != nil {
		return v, usage("--if-version: %v", err)
	}
	return v, nil
}

// A commitReport is what a commit prints.
type commitReport struct {
	Owner   string            `json:"owner"`
	Outcome string            `json:"outcome"`
	Changed bool              `json:"changed"`
	Version sidecar.Version   `json:"version"`
	Fields  map[string]change `json:"fields"` // those that changed
}

// A change is a field's value before and after a commit; one that is unset is
// left out.
type change struct {
	Before jsontext.Value `json:"before,omitzero"`
	After  jsontext.Value `json:"after,omitzero"`
}

// carryOut applies patch to tx and keeps what changed.
func (r *commitReport) carryOut(tx *sidecar.Tx, patch sidecar.Patch) {
	get := func(field string) jsontext.Value {
		raw, _ := tx.Get(field)
		return slices.Clone(raw)
	}
	for _, op := range patch {
		ch, touched := r.Fields[op.Field]
		if !touched {
			ch.Before = get(op.Field)
		}
		tx.Apply(op)
		ch.After = get(op.Field)
		r.Fields[op.Field] = ch
	}
	for field, ch := range r.Fields {
		if string(ch.Before) == string(ch.After) {
			delete(r.Fields, field)
		}
	}
}

// text returns the report for people: a line for each field that changed, or
// one that says that none did.
func (r *commitReport) text(o schema.Owner) string {
	if r.Version.IsZero() {
		return fmt.Sprintf("%s unchanged, and never written\n", r.Owner)
	}
	if !r.Changed {
		return fmt.Sprintf("%s unchanged at version %v\n", r.Owner, r.Version)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s applied version %v\n", r.Owner, r.Version)
	for _, field := range o.FieldNames() {
		if ch, ok := r.Fields[field]; ok {
			f := o.Fields[field]
			fmt.Fprintf(&b, "  %s: %s -> %s\n", field, shownValue(f, ch.Before), shownValue(f, ch.After))
		}
	}
	return b.String()
}

// shownValue returns a stored value for a sentence.
func shownValue(f schema.Field, raw []byte) string {
	if raw == nil {
		return unset
	}
	return shown(f.Text(raw))
}

// lookup returns the declaration of owner's field. The error for a field that
// is not owner's names its owner, and the hint says what to call instead:
// verb, the right owner and the operand.
func lookup(d *schema.Declaration, owner, field, verb, operand string) (schema.Field, error) {
	if f, ok := d.Owners[owner].Fields[field]; ok {
		return f, nil
	}
	if other, ok := d.OwnerOf(field); ok {
		return schema.Field{}, hinted{
			fmt.Errorf("field %s: %w: it belongs to owner %s, and owner %s may not write it", field, sidecar.ErrNotOwner, other, owner),
			fmt.Sprintf("`%s` writes as %s", strings.TrimSpace("freehold "+verb+" "+other+" "+quoteForShell(operand)), other),
		}
	}
	return schema.Field{}, hinted{
		fmt.Errorf("field %q: %w: no owner of state %s declares it", field, sidecar.ErrNotOwner, d.State),
		fmt.Sprintf("the fields of %s are %s", owner, strings.Join(d.Owners[owner].FieldNames(), ", ")),
	}
}

var plainForShell = regexp.MustCompile(`^[A-Za-z0-9_.:=+/, -]*$`)

// quoteForShell returns the operands of a suggested command so that a shell
// takes them for nothing else.
func quoteForShell(operands string) string {
	if plainForShell.MatchString(operands) {
		return operands
	}
	return "'" + strings.ReplaceAll(operands, "'", `'\''`) + "'"
}

// parse reads the text of a value for owner's field.
func parse(owner, field string, f schema.Field, text string) (jsontext.Value, error) {
	raw, err := f.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("field %s of %s: %w: %w", field, owner, sidecar.ErrValue, err)
	}
	return raw, nil
}
