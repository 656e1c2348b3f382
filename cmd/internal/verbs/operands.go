package verbs

import (
	"context"
	"fmt"
	"strings"

	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/go-json-experiment/json/jsontext"
)

// readable refuses the operands of set that are no OWNER and no FIELD=VALUE.
func readable(_ context.Context, c *Call) error {
	if strings.Contains(c.Args[0], "=") {
		return failure.Usage("%q is no OWNER: name the owner before its fields", c.Args[0])
	}
	for _, operand := range c.Args[1:] {
		if _, _, err := assignment(operand, "FIELD"); err != nil {
			return err
		}
	}
	return nil
}

// assignment divides an operand NAME=VALUE, where what is the name's word.
func assignment(operand, what string) (name, text string, err error) {
	name, text, ok := strings.Cut(operand, "=")
	switch {
	case !ok:
		return "", "", failure.Usage("%q is no %s=VALUE: put a = between the two, and no blanks", operand, what)
	case name == "" || name != strings.TrimSpace(name):
		return "", "", failure.Usage("%q is no %s=VALUE: write the three as one word, without blanks around the =", operand, what)
	}
	return name, text, nil
}

// assign makes the patch of FIELD=VALUE operands.
func assign(d *schema.Declaration, c *Call) (sidecar.Patch, error) {
	var patch sidecar.Patch
	owner, given := c.Args[0], map[string]bool{}
	for _, operand := range c.Args[1:] {
		field, text, _ := strings.Cut(operand, "=")
		if given[field] {
			return nil, failure.Usage("field %q is given two values: give it one", field)
		}
		given[field] = true
		f, err := lookup(d, owner, field, "set", operand)
		if err != nil {
			return nil, err
		}
		raw, err := parse(owner, field, f, text)
		if err != nil {
			return nil, err
		}
		patch = append(patch, sidecar.Op{Field: field, Verb: sidecar.VerbSet, Value: raw})
	}
	return patch, nil
}

// unsetting makes the patch that clears fields.
func unsetting(d *schema.Declaration, c *Call) (sidecar.Patch, error) {
	var patch sidecar.Patch
	for _, field := range c.Args[1:] {
		if _, err := lookup(d, c.Args[0], field, "clear", field); err != nil {
			return nil, err
		}
		patch = append(patch, sidecar.Op{Field: field, Verb: sidecar.VerbClear})
	}
	return patch, nil
}

// operate makes the patch of one number, instant or duration for one field.
func operate(d *schema.Declaration, c *Call) (sidecar.Patch, error) {
	owner, field := c.Args[0], c.Args[1]
	f, err := lookup(d, owner, field, c.Verb.Name, c.Args[1:]...)
	if err != nil {
		return nil, err
	}
	raw, err := parse(owner, field, f, c.Args[2])
	return sidecar.Patch{{Field: field, Verb: sidecar.Verb(c.Verb.Name), Value: raw}}, err
}

// elements makes the patch for elements of a set, or for whole keys of a map.
func elements(d *schema.Declaration, c *Call) (sidecar.Patch, error) {
	owner, field := c.Args[0], c.Args[1]
	f, err := lookup(d, owner, field, c.Verb.Name, c.Args[1:]...)
	if err != nil {
		return nil, err
	}
	if f.EffectiveKind() == schema.Map {
		return onKeys(d, c)
	}
	element, _ := f.Element()
	var patch sidecar.Patch
	for _, text := range c.Args[2:] {
		raw, err := parse(owner, field, element, text)
		if err != nil {
			return nil, err
		}
		patch = append(patch, sidecar.Op{Field: field, Verb: sidecar.Verb(c.Verb.Name), Value: raw})
	}
	return patch, nil
}

// deletion makes the patch that deletes keys of a map.
func deletion(d *schema.Declaration, c *Call) (sidecar.Patch, error) {
	if _, err := lookup(d, c.Args[0], c.Args[1], "delete", c.Args[1:]...); err != nil {
		return nil, err
	}
	return onKeys(d, c)
}

// onKeys makes the patch for whole keys of a map, which the owner has to decide.
func onKeys(d *schema.Declaration, c *Call) (sidecar.Patch, error) {
	owner, field, verb := c.Args[0], c.Args[1], c.Verb.Name
	if decider, _ := d.OwnerOf(field); decider != owner {
		return nil, failure.Hint(
			fmt.Errorf("field %s: %w: owner %s decides which keys the map has, and owner %s may not %s one", field, sidecar.ErrNotOwner, decider, owner, verb),
			writesAs(decider, verb, c.Args[1:]),
		)
	}
	var patch sidecar.Patch
	for _, key := range c.Args[2:] {
		patch = append(patch, sidecar.Op{Field: field, Verb: sidecar.Verb(verb), Key: key})
	}
	return patch, nil
}

// put makes the patch of members at a key of a map.
func put(d *schema.Declaration, c *Call) (sidecar.Patch, error) {
	owner, field, key := c.Args[0], c.Args[1], c.Args[2]
	if joined, ok := d.Joined(field); joined.Value != nil || ok && joined.EffectiveKind() != schema.Map {
		return putValue(d, c)
	}
	var patch sidecar.Patch
	given := map[string]bool{}
	for _, operand := range c.Args[3:] {
		name, text, err := assignment(operand, "MEMBER")
		if err != nil {
			return nil, err
		}
		if given[name] {
			return nil, failure.Usage("member %q is given two values: give it one", name)
		}
		given[name] = true
		f, err := member(d, c, name, operand)
		if err != nil {
			return nil, err
		}
		raw, err := parse(owner, field+", member "+name+",", f, text)
		if err != nil {
			return nil, err
		}
		patch = append(patch, sidecar.Op{Field: field, Verb: puts[f.EffectiveKind()], Key: key, Member: name, Value: raw})
	}
	return patch, nil
}

// puts maps the kind of a member to the verb by which put writes it.
var puts = map[schema.Kind]sidecar.Verb{
	schema.Value: sidecar.VerbSet, schema.Counter: sidecar.VerbAdd, schema.Max: sidecar.VerbRaise, schema.Min: sidecar.VerbLower,
}

// putValue is put for a map that has one value at a key.
func putValue(d *schema.Declaration, c *Call) (sidecar.Patch, error) {
	owner, field, values := c.Args[0], c.Args[1], c.Args[3:]
	f, err := lookup(d, owner, field, "put", c.Args[1:]...)
	if err != nil {
		return nil, err
	}
	if len(values) > 1 {
		return nil, failure.Usage("field %s has one value at a key, and no members: give one VALUE", field)
	}
	raw, err := parse(owner, field, *f.Value, values[0])
	return sidecar.Patch{{Field: field, Verb: puts[f.Value.EffectiveKind()], Key: c.Args[2], Value: raw}}, err
}

// parse reads the text of a value for owner's field.
func parse(owner, field string, f schema.Field, text string) (jsontext.Value, error) {
	raw, err := f.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("field %s of %s: %w: %w", field, owner, sidecar.ErrValue, err)
	}
	return raw, nil
}
