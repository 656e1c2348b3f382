package verbs

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/freehold-dev/freehold/cmd/internal/display"
	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// A step is one operation of a patch, with its value as text.
type step struct {
	sidecar.Op
	text string
}

// patch turns the operands of a verb that commits into a patch, by the
// declaration of the state.
func (c *Call) patch(d *schema.Declaration) (sidecar.Patch, error) {
	if c.input != nil {
		return c.input, c.checkInput(d)
	}
	steps, err := c.Verb.steps(c, d)
	if err != nil {
		return nil, err
	}
	patch, given := make(sidecar.Patch, 0, len(steps)), map[string]bool{}
	for _, s := range steps {
		if where := s.Where(); strings.Contains(string(c.Verb.Operands), "=VALUE") {
			if given[where] {
				return nil, failure.Usage("%s is given two values: give it one", where)
			}
			given[where] = true
		}
		f, err := c.resolve(d, s.Op)
		if err != nil {
			return nil, err
		}
		if s.Verb == schema.VerbPut {
			s.Verb = f.Verbs()[0]
		}
		if takesValue(s.Op) {
			if s.Value, err = parse(f, s.text); err != nil {
				return nil, fmt.Errorf("%s of %s: %w: %w", s.Where(), c.Args[0], sidecar.ErrValue, err)
			}
		}
		patch = append(patch, s.Op)
	}
	return patch, nil
}

// parse reads a value of f; "now" is an instant.
func parse(f schema.Field, text string) ([]byte, error) {
	if f.Type == schema.TypeTime && text == "now" {
		text = time.Now().UTC().Format(time.RFC3339Nano)
	}
	return f.Parse(text)
}

// takesValue reports whether op has no meaning without a value.
func takesValue(op sidecar.Op) bool {
	switch op.Verb {
	case schema.VerbClear, schema.VerbDelete:
		return false
	case schema.VerbInsert:
		return op.Key == ""
	}
	return true
}

// assignments are the steps of the operands FIELD=VALUE.
func assignments(c *Call, _ *schema.Declaration) (steps []step, err error) {
	for _, operand := range c.Args[1:] {
		var s step
		s.Verb = schema.VerbSet
		if s.Field, s.text, err = assignment(operand, "FIELD"); err != nil {
			return nil, err
		}
		steps = append(steps, s)
	}
	return steps, nil
}

// assignment divides an operand NAME=VALUE, where word stands for NAME.
func assignment(operand, word string) (name, text string, err error) {
	name, text, ok := strings.Cut(operand, "=")
	switch {
	case !ok:
		return "", "", failure.Usage("%q is no %s=VALUE: put a = between the two, and no blanks", operand, word)
	case name == "" || name != strings.TrimSpace(name):
		return "", "", failure.Usage("%q is no %s=VALUE: write the three as one word, without blanks around the =", operand, word)
	}
	return name, text, nil
}

// clearings are the steps of the operands FIELD.
func clearings(c *Call, _ *schema.Declaration) (steps []step, err error) {
	for _, field := range c.Args[1:] {
		steps = append(steps, step{Op: sidecar.Op{Field: field, Verb: schema.VerbClear}})
	}
	return steps, nil
}

// values are the steps of the operands FIELD VALUE..., or MAP KEY...
func values(c *Call, d *schema.Declaration) (steps []step, err error) {
	f, _ := d.Joined(c.Args[1])
	for _, text := range c.Args[2:] {
		s := step{Op: sidecar.Op{Field: c.Args[1], Verb: schema.Verb(c.Verb.Name)}, text: text}
		if f.EffectiveKind() == schema.Map {
			s.Key = text
		}
		steps = append(steps, s)
	}
	return steps, nil
}

// puts are the steps of the operands MAP KEY MEMBER=VALUE..., or of VALUE alone
// for a map with one value at a key.
func puts(c *Call, d *schema.Declaration) (steps []step, err error) {
	field, key := c.Args[1], c.Args[2]
	f, _ := d.Joined(field)
	for _, operand := range c.Args[3:] {
		s := step{sidecar.Op{Field: field, Verb: schema.VerbPut, Key: key}, operand}
		if f.Value == nil && f.EffectiveKind() == schema.Map {
			if s.Member, s.text, err = assignment(operand, "MEMBER"); err != nil {
				return nil, err
			}
		}
		steps = append(steps, s)
	}
	return steps, nil
}

// resolve returns the declaration of the value that op writes.
func (c *Call) resolve(d *schema.Declaration, op sidecar.Op) (schema.Field, error) {
	owner := c.Args[0]
	f, err := d.Resolve(owner, op.Field, op.Verb)
	if whole, _ := d.Joined(op.Field); op.Verb == schema.VerbPut && whole.EffectiveKind() == schema.Map {
		member, merr := d.ResolveMember(owner, op.Field, op.Member, op.Verb)
		if r, ok := errors.AsType[*schema.Refusal](merr); !ok || err == nil || r.By != "" {
			f, err = member, merr
		}
	}
	if err != nil {
		return f, c.refused(d, op, err)
	}
	if element, ok := f.Element(); ok && f.EffectiveKind() == schema.Set {
		f = element
	}
	return f, nil
}

// refused returns the error for an operation that the declaration refuses.
func (c *Call) refused(d *schema.Declaration, op sidecar.Op, err error) error {
	r, _ := errors.AsType[*schema.Refusal](err)
	op.Key = ""
	err = fmt.Errorf("%s: %w: %w", op.Where(), sidecar.ErrNotOwner, r)
	owner, verb := c.Args[0], c.Verb.Name
	fields := d.Owners[owner].Fields
	switch {
	case r.By == owner && verb == "apply":
		return store.WithRemedy(failure.Usage("%s: %v", op.Where(), r), Command(owner, op.Field, fields[op.Field]))
	case r.By == owner:
		return store.WithRemedy(failure.Usage("%s: %s is not for a %s", op.Where(), verb, display.Kind(fields[op.Field])), Command(owner, op.Field, fields[op.Field]))
	case r.By == "" && r.Member != "" && len(fields[op.Field].MemberNames()) == 0:
		return store.WithRemedy(err, Command(owner, op.Field, fields[op.Field]))
	case r.By == "" && r.Member != "":
		return store.WithRemedy(err, store.Remedy{Note: schema.DidYouMean(op.Member, "the members of "+owner+" are", fields[op.Field].MemberNames())})
	case r.By == "" && fields != nil:
		return store.WithRemedy(err, store.Remedy{Note: schema.DidYouMean(op.Field, "the fields of "+owner+" are", d.Owners[owner].FieldNames())})
	case r.By == "":
		return err
	}
	// No command that writes as that owner: the refusal would be no more than a detour.
	return store.WithRemedy(err, store.Remedy{Note: "let a program of owner " + r.By + " write it"})
}

// Command returns the command by which owner writes f, with words for its
// operands.
func Command(owner, field string, f schema.Field) store.Remedy {
	words := map[schema.Kind]string{
		schema.Value:   "set FIELD=VALUE",
		schema.Counter: "add FIELD VALUE",
		schema.Max:     "raise FIELD VALUE",
		schema.Min:     "lower FIELD VALUE",
		schema.Once:    "claim FIELD",
		schema.Event:   "begin FIELD",
		schema.Set:     "insert FIELD VALUE",
		schema.Map:     "put FIELD KEY MEMBER=VALUE",
	}[f.EffectiveKind()]
	switch {
	case f.Value != nil:
		words = "put FIELD KEY VALUE"
	case f.EffectiveKind() == schema.Map && len(f.Record) == 0:
		words = "insert FIELD KEY"
	}
	if f.Dependent() {
		words += " --seen TOKEN" // without the token the freshness is unknown
	}
	verb, operands, _ := strings.Cut(strings.Replace(words, "FIELD", field, 1), " ")
	return store.Remedy{Verb: store.Verb(verb), Args: append([]string{owner}, strings.Fields(operands)...)}
}
