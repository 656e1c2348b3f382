package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

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
		return classed{err, errNegative}
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
	fields, left := adopt.Infer(legacy)
	text, err := declareAll([]byte(proposalHead(legacy.Name(), state, left)), fields)
	if err != nil {
		return nil, ofModule(err)
	}
	return &proposal{legacy.Path(), state, string(text), append([]jsontext.Pointer{}, left...)}, nil
}

// proposalHead returns the beginning of the proposed file.
func proposalHead(name, state string, left []jsontext.Pointer) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# yaml-language-server: $schema=%s\n#\n", declare.OwnersSchemaURL)
	fmt.Fprintf(&b, "# Proposed by \"freehold adopt --infer\" for the file %q.\n#\n", name)
	fmt.Fprintf(&b, "# A file does not show which program writes what: split the owner %q\n", adopt.InferredOwner)
	b.WriteString("# into those that do, and say of each field what it means. The types are those\n")
	b.WriteString("# of the values that were there; where only some texts make sense, an enum is\n")
	b.WriteString("# better. What is only added to is of kind counter, and what never goes back is\n")
	b.WriteString("# of kind max or min.\n")
	for _, p := range left {
		fmt.Fprintf(&b, "#\n# No owner can declare the key at %q, whose name has characters that do not\n# show, or too many.\n", string(p))
	}
	fmt.Fprintf(&b, "state: %s\n", state)
	return b.String()
}

// declareAll returns the text of an owners.yaml with one owner of the fields.
func declareAll(text []byte, fields map[string]schema.Field) ([]byte, error) {
	names := slices.Sorted(maps.Keys(fields))
	if len(names) == 0 {
		return nil, usage("the file has no key that could be declared: write owners.yaml by hand")
	}
	owned := false
	for _, name := range names {
		next, err := text, error(nil)
		for _, f := range spellings(name, fields[name]) {
			if owned {
				next, err = declare.AddField(text, adopt.InferredOwner, name, f)
			} else {
				next, err = declare.AddOwner(text, adopt.InferredOwner, schema.Owner{Doc: "Everything that was in the file.", Fields: map[string]schema.Field{name: f}})
			}
			if err == nil {
				break
			}
		}
		if err != nil {
			return nil, err
		}
		text, owned = next, true
	}
	return text, nil
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
