package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A writing is what the commands that commit have in common.
type writing struct {
	acting
	sight
	version string      // that the sidecar must be at
	given   *pflag.Flag // of version
}

func (w *writing) flags(cmd *cobra.Command) {
	w.acting.flags(cmd)
	cmd.Flags().StringVar(&w.version, "if-version", "", "commit only if the sidecar is at `VERSION`, as commits and views print it")
	w.given = cmd.Flags().Lookup("if-version")
}

// A drafter turns the operands of a command into the operations of a patch,
// by the declaration of the state.
type drafter func(d *schema.Declaration) (sidecar.Patch, error)

// commit writes as owner, in one commit, and reports what became of it.
func (w *writing) commit(ctx context.Context, owner string, draft drafter) error {
	version, err := parseVersion(w.version)
	if err != nil {
		return err
	}
	writer, err := w.open(ctx, owner)
	if err != nil {
		return w.advise(err, owner, draft)
	}
	defer writer.Close()
	patch, err := draft(writer.Declaration())
	if err != nil {
		return err
	}
	r := commitReport{Owner: owner, Fields: map[string]change{}}
	if r.Unobserved, err = w.sight.into(patch, writer.Declaration().Owners[owner]); err != nil {
		return err
	}
	commit, err := writer.Update(ctx, func(tx *sidecar.Tx) error {
		if w.given.Changed { // an empty version is that of a sidecar never written
			tx.IfVersion(version)
		}
		r.carryOut(tx, writer.Declaration().Owners[owner], patch)
		return nil
	})
	if err != nil {
		return err
	}
	r.outcome(commit)
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

// lookup returns the declaration of owner's field. The error for a field that
// is not owner's names its owner, and the hint says what to call instead:
// verb, the right owner and the operands.
func lookup(d *schema.Declaration, owner, field, verb string, operands ...string) (schema.Field, error) {
	if f, ok := d.Owners[owner].Fields[field]; ok {
		return f, suits(owner, field, f, verb)
	}
	if other, ok := d.OwnerOf(field); ok {
		return schema.Field{}, hinted{
			fmt.Errorf("field %s: %w: it belongs to owner %s, and owner %s may not write it", field, sidecar.ErrNotOwner, other, owner),
			fmt.Sprintf("`%s` writes as %s", instead(other, field, d.Owners[other].Fields[field], verb, operands), other),
		}
	}
	err := fmt.Errorf("field %q: %w: no owner of state %s declares it", field, sidecar.ErrNotOwner, d.State)
	if _, ok := d.Owners[owner]; !ok {
		return schema.Field{}, err
	}
	return schema.Field{}, hinted{
		err,
		fmt.Sprintf("the fields of %s are %s", owner, strings.Join(d.Owners[owner].FieldNames(), ", ")),
	}
}

// instead returns the command by which the owner of a field writes it: verb, if
// that suits, with the operands.
func instead(owner, field string, f schema.Field, verb string, operands []string) string {
	kind, command := f.EffectiveKind(), commandOf(owner, field, f)
	_, parted := partCommands[kind]
	switch {
	case verb == strings.Fields(command)[1], verb == "apply", verb == "clear" && kind == schema.Value,
		parted && suits(owner, field, f, verb) == nil:
		return pasted(append([]string{"freehold", verb, owner}, operands...)...)
	}
	return command
}

// partCommands are the commands that write the parts of a field, by its kind,
// and those for what is no part of a commit.
// What the others say of a command that does not suit them, sidecar knows.
var partCommands = map[schema.Kind][]string{
	schema.Once:  {"claim"},
	schema.Event: {"begin", "done", "apply"},
	schema.Set:   {"insert", "remove", "apply"},
	schema.Map:   {"put", "insert", "delete", "apply"},
}

// suits says why a command, verb, cannot write f, where reading its operands
// would say something else.
func suits(owner, field string, f schema.Field, verb string) error {
	kind := f.EffectiveKind()
	commands, parted := partCommands[kind]
	ofParts := false
	for _, others := range partCommands {
		ofParts = ofParts || slices.Contains(others, verb)
	}
	switch {
	case verb == "apply" && !kind.OnWriter(), !parted && !ofParts:
		return nil
	case slices.Contains(commands, verb) && (verb != "insert" || f.Value == nil):
		return nil
	}
	return hinted{usage("field %s: %s is not for a %s", field, verb, called(f)), "`" + commandOf(owner, field, f) + "` writes it"}
}

// pasted joins the words of a suggested command so that a shell takes each for
// nothing else.
func pasted(words ...string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = store.ShellWord(word)
	}
	return strings.Join(quoted, " ")
}

// parse reads the text of a value for owner's field.
func parse(owner, field string, f schema.Field, text string) (jsontext.Value, error) {
	raw, err := f.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("field %s of %s: %w: %w", field, owner, sidecar.ErrValue, err)
	}
	return raw, nil
}
