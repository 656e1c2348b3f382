package upkeep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/schema/declare"
	"github.com/freehold-dev/freehold/sidecar/adopt"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/go-json-experiment/json/jsontext"
)

// A proposal is the report of adopt --infer.
type proposal struct {
	File  string             `json:"file"`
	State string             `json:"state"`
	Text  string             `json:"owners_yaml"`
	Left  []jsontext.Pointer `json:"undeclared"` // keys that no owners.yaml can name
}

// propose prints an owners.yaml for the file.
func (a *adoption) propose(ctx context.Context, file string) error {
	legacy, err := a.read(ctx, file)
	if errors.Is(err, store.Missing) {
		return failure.As(err, failure.Negative)
	}
	if err != nil {
		return err
	}
	p, err := propose(legacy, cmp.Or(a.state, "legacy"))
	if err != nil {
		return err
	}
	return a.Answer(p, p.Text)
}

// propose returns an owners.yaml for a legacy file.
func propose(legacy *adopt.Legacy, state string) (*proposal, error) {
	fields, left := adopt.Infer(legacy)
	switch n := len(fields); {
	case n == 0:
		return nil, failure.Usage("the file has no key that could be declared: write owners.yaml by hand")
	case n > schema.MaxFields:
		return nil, failure.Usage("the file has %d keys, more than the %d fields that an owner may have, and they are no map of at most %d keys with values that are alike: make several files of it, or write owners.yaml by hand", n, schema.MaxFields, schema.MaxKeys)
	}
	text, err := declareAll([]byte(proposalHead(filepath.Base(legacy.Path), state, left)+likenesses(fields)+"state: "+state+"\n"), fields)
	if err != nil {
		return nil, failure.As(err, failure.Misused)
	}
	text = inFileOrder(text, fields, legacy.Keys())
	p := &proposal{legacy.Path, state, string(text), nil}
	for _, u := range left {
		if u.Pointer != "" { // else the whole file is too large
			p.Left = append(p.Left, u.Pointer)
		}
	}
	return p, nil
}

// everything is the one owner of a proposal.
const everything = "everything"

const proposalAdvice = `# into the programs that write it, and document each field. The types are those
# of the values in the file; where only some texts make sense, an enum is better.
# A number that is only added to is of kind counter, and one that never goes back
# of kind max or min.
`

// proposalHead returns the beginning of the proposed file.
func proposalHead(name, state string, left []adopt.Place) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# yaml-language-server: $schema=%s\n#\n", declare.OwnersSchemaPath)
	fmt.Fprintf(&b, "# Proposed by \"freehold adopt --infer\" for the file %q.\n#\n", name)
	fmt.Fprintf(&b, "# A file does not show the writer of a key: split the owner %q\n", everything)
	b.WriteString(proposalAdvice)
	for _, u := range left {
		if u.Pointer == "" {
			b.WriteString("#\n# The file has more than one sidecar may hold: it can be adopted once several\n# owners share it.\n")
			continue
		}
		fmt.Fprintf(&b, "#\n# The key at %q is not declared, since\n# %s.\n", string(u.Pointer), u.Why)
	}
	return b.String()
}

// likenesses names the fields that look like other kinds.
func likenesses(fields map[string]schema.Field) string {
	var sets, onces, events []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		first, last := name, name
		if i := strings.IndexByte(name, '_'); i >= 0 {
			first, last = name[:i], name[strings.LastIndexByte(name, '_')+1:]
		}
		switch f := fields[name]; {
		case f.Type == schema.TypeList && f.Of != nil && schema.Set.Allows(f.Of.Type):
			sets = append(sets, name)
		case f.Type == schema.TypeTime && last == "at":
			events = append(events, name)
		case f.Type == schema.TypeBool && (first == "has" || slices.Contains([]string{"fired", "done", "sent", "shown", "seen", "notified", "initialized", "migrated"}, last)):
			onces = append(onces, name)
		}
	}
	var b strings.Builder
	for _, l := range []struct {
		text  string
		names []string
	}{
		{"A list without an order is of kind set", sets},
		{"A mark that is set once is of kind once", onces},
		{"An instant at which something ends that takes time is of kind event", events},
	} {
		fmt.Fprintf(&b, "# %s", l.text)
		if len(l.names) > 0 {
			fmt.Fprintf(&b, ", as may be:\n#   %s", strings.Join(l.names, "\n#   "))
		}
		b.WriteString(".\n")
	}
	return b.String()
}

// inFileOrder puts the fields of a proposal in the order of their keys in the file,
// which is how people divide them.
func inFileOrder(text []byte, fields map[string]schema.Field, keys []string) []byte {
	source, err := declare.Parse("owners.yaml", ".", text)
	if err != nil {
		return text
	}
	names := map[string]string{} // by key
	for name, f := range fields {
		names[cmp.Or(f.Legacy, name)] = name
	}
	lines := strings.SplitAfter(string(text), "\n")
	type part struct {
		name        string
		first, last int
	}
	var parts []part
	for name := range fields {
		line, _ := source.Place(schema.PointerTo(everything, name))
		parts = append(parts, part{name: name, first: line - 1})
	}
	slices.SortFunc(parts, func(a, b part) int { return a.first - b.first })
	for i := range parts {
		parts[i].last = len(lines)
		if i+1 < len(parts) {
			parts[i].last = parts[i+1].first
		}
	}
	if len(parts) == 0 || parts[0].first < 1 {
		return text
	}
	place := map[string]int{}
	for i, key := range keys {
		place[names[key]] = i
	}
	sorted := slices.Clone(parts)
	slices.SortStableFunc(sorted, func(a, b part) int { return place[a.name] - place[b.name] })
	ordered := slices.Clone(lines[:parts[0].first])
	for _, p := range sorted {
		ordered = append(ordered, lines[p.first:p.last]...)
	}
	return []byte(strings.Join(ordered, ""))
}

// declareAll returns the text of an owners.yaml with one owner of the fields.
func declareAll(head []byte, fields map[string]schema.Field) ([]byte, error) {
	p := &proposing{head: head, wanted: fields, fields: map[string]schema.Field{}}
	if err := p.add(slices.Sorted(maps.Keys(fields))); err != nil {
		return nil, err
	}
	return p.text, nil
}

// A proposing adds fields to an owners.yaml, as many at once as it can: each
// attempt reads the text anew.
type proposing struct {
	head   []byte
	wanted map[string]schema.Field
	fields map[string]schema.Field // that are in text
	text   []byte
}

// add adds the fields of these names, each in the best form that may be declared
// beside those in the text.
func (p *proposing) add(names []string) error {
	with := maps.Clone(p.fields)
	for _, name := range names {
		with[name] = p.wanted[name]
	}
	err := p.try(with)
	if err == nil {
		return nil
	}
	if n := len(names) / 2; n > 0 {
		if err := p.add(names[:n]); err != nil {
			return err
		}
		return p.add(names[n:])
	}
	for _, f := range spellings(names[0], p.wanted[names[0]]) {
		with[names[0]] = f
		if err = p.try(with); err == nil {
			return nil
		}
	}
	return err
}

func (p *proposing) try(fields map[string]schema.Field) error {
	text, err := declare.AddOwner(p.head, everything, schema.Owner{Doc: "Everything that was in the file.", Fields: fields})
	if err == nil {
		p.fields, p.text = maps.Clone(fields), text
	}
	return err
}

// spellings returns the other forms in which a field may be declared, the best
// first: with another name in generated code, and without its parts.
func spellings(name string, f schema.Field) (all []schema.Field) {
	plain := schema.Field{Type: schema.TypeJSON, Legacy: f.Legacy}
	for _, form := range []schema.Field{f, plain} {
		for _, suffix := range []string{"", "Value", "LegacyValue"} {
			if suffix != "" {
				form.Go = declare.GoName(name, schema.Field{}) + suffix
			}
			all = append(all, form)
		}
	}
	return all[1:]
}
