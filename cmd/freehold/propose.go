package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/schema/declare"
	"github.com/freehold-dev/freehold/sidecar/adopt"
	"github.com/go-json-experiment/json/jsontext"
)

// A proposal is what adopt --infer prints.
type proposal struct {
	File  string             `json:"file"`
	State string             `json:"state"`
	Text  string             `json:"owners_yaml"`
	Left  []jsontext.Pointer `json:"undeclared"` // keys that no owners.yaml can name
}

// infer prints an owners.yaml for the file.
func (a *adoption) infer(ctx context.Context, file string) error {
	legacy, err := a.read(ctx, file)
	if errors.Is(err, adopt.ErrAbsent) {
		return failure.As(err, failure.Negative)
	}
	if err != nil {
		return err
	}
	state := a.state
	if state == "" {
		state = "legacy"
	}
	p, err := propose(legacy, state)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(p)
	}
	return a.print(p.Text)
}

// propose returns an owners.yaml for a legacy file.
func propose(legacy *adopt.Legacy, state string) (*proposal, error) {
	inferred := adopt.Infer(legacy)
	switch n := len(inferred.Fields); {
	case n == 0:
		return nil, failure.Usage("the file has no key that could be declared: write owners.yaml by hand")
	case n > schema.MaxFields:
		return nil, failure.Usage("the file has %d keys, more than the %d fields that an owner may have, and they are no map of at most %d keys with values that are alike: make several files of it, or write owners.yaml by hand", n, schema.MaxFields, schema.MaxKeys)
	}
	text, err := declareAll([]byte(proposalHead(legacy.Name(), state, inferred)), inferred.Fields)
	if err != nil {
		return nil, ofModule(err)
	}
	p := &proposal{legacy.Path(), state, string(text), []jsontext.Pointer{}}
	for _, u := range inferred.Left {
		p.Left = append(p.Left, u.Pointer)
	}
	return p, nil
}

// proposalHead returns the beginning of the proposed file.
func proposalHead(name, state string, inferred *adopt.Inferred) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# yaml-language-server: $schema=%s\n#\n", declare.OwnersSchemaURL)
	fmt.Fprintf(&b, "# Proposed by \"freehold adopt --infer\" for the file %q.\n#\n", name)
	fmt.Fprintf(&b, "# A file does not show which program writes what: split the owner %q\n", adopt.InferredOwner)
	b.WriteString("# into those that do, and say of each field what it means. The types are those\n")
	b.WriteString("# of the values that were there; where only some texts make sense, an enum is\n")
	b.WriteString("# better. What is only added to is of kind counter, and what never goes back is\n")
	b.WriteString("# of kind max or min.\n")
	if inferred.TooLarge {
		b.WriteString("#\n# The file has more than one sidecar may hold: it can be adopted once several\n# owners share it.\n")
	}
	for _, u := range inferred.Left {
		fmt.Fprintf(&b, "#\n# The key at %q is not declared, since\n# %s.\n", string(u.Pointer), u.Why)
	}
	fmt.Fprintf(&b, "state: %s\n", state)
	return b.String()
}

// declareAll returns the text of an owners.yaml with one owner of the fields.
func declareAll(text []byte, fields map[string]schema.Field) ([]byte, error) {
	d := &declaring{head: text, wanted: fields, fields: map[string]schema.Field{}}
	if err := d.add(slices.Sorted(maps.Keys(fields))); err != nil {
		return nil, err
	}
	return d.text, nil
}

// A declaring adds fields to an owners.yaml, whose text it reads anew each time:
// as many of them at once as it can.
type declaring struct {
	head   []byte
	wanted map[string]schema.Field
	fields map[string]schema.Field // that are in text
	text   []byte
}

// add adds the fields of these names, each in the best way in which it may be
// declared beside those that are there.
func (d *declaring) add(names []string) error {
	with := maps.Clone(d.fields)
	for _, name := range names {
		with[name] = d.wanted[name]
	}
	err := d.try(with)
	if err == nil {
		return nil
	}
	if n := len(names) / 2; n > 0 {
		if err := d.add(names[:n]); err != nil {
			return err
		}
		return d.add(names[n:])
	}
	for _, f := range spellings(names[0], d.wanted[names[0]])[1:] {
		with[names[0]] = f
		if err = d.try(with); err == nil {
			return nil
		}
	}
	return err
}

func (d *declaring) try(fields map[string]schema.Field) error {
	text, err := declare.AddOwner(d.head, adopt.InferredOwner, schema.Owner{Doc: "Everything that was in the file.", Fields: fields})
	if err == nil {
		d.fields, d.text = maps.Clone(fields), text
	}
	return err
}

// spellings returns the ways in which a field may be declared, the best first:
// where its name has another meaning in generated code, with another name
// there, and where its parts have, without them.
func spellings(name string, f schema.Field) []schema.Field {
	var all []schema.Field
	for _, f := range []schema.Field{f, {Type: schema.TypeJSON, Legacy: f.Legacy}} {
		all = append(all, f)
		for _, more := range []string{"Value", "LegacyValue"} {
			f.Go = declare.GoName(name, schema.Field{}) + more
			all = append(all, f)
		}
	}
	return all
}
