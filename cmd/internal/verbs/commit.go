package verbs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/cmd/internal/display"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/go-json-experiment/json/jsontext"
)

// A commitReport is the answer of a verb that commits.
type commitReport struct {
	Owner   string            `json:"owner"`
	Outcome string            `json:"outcome"`
	Changed bool              `json:"changed"`
	Version sidecar.Version   `json:"version"`
	Fields  map[string]change `json:"fields"` // those that changed
	// Patch is the id of the patch if the commit is deferred; what it
	// changes, a view shows.
	Patch string `json:"patch,omitzero"`
	// Folded is how many pending patches the commit folded.
	Folded int `json:"folded,omitzero"`
	// Stays has what a max or min field holds that was not moved.
	Stays map[string]jsontext.Value `json:"stays,omitempty"`
	// Unobserved are the fields that depend on others and were written by
	// somebody who did not say what had been seen of those.
	Unobserved []string `json:"unobserved,omitempty"`

	owner schema.Owner
}

// commit writes as the owner of the first operand, in one commit.
func (c *Call) commit(ctx context.Context) (Report, error) {
	version, err := c.version()
	if err != nil {
		return nil, err
	}
	owner := c.Args[0]
	writer, err := c.Open(ctx, owner)
	if err != nil {
		return nil, c.hint(err)
	}
	defer writer.Close()
	patch, err := c.patch(writer.Declaration())
	if err != nil {
		return nil, err
	}
	r := &commitReport{Owner: owner, Fields: map[string]change{}, owner: writer.Declaration().Owners[owner]}
	if r.Unobserved, err = c.addSeen(patch, r.owner); err != nil {
		return nil, err
	}
	var held map[string]jsontext.Value
	commit, err := writer.Update(ctx, func(tx *sidecar.Tx) error {
		if _, given := c.Flags[ifVersion.Name]; given { // an empty version is that of a sidecar never written
			tx.IfVersion(version)
		}
		held = carryOut(tx, patch)
		return nil
	})
	if err != nil {
		return nil, err
	}
	r.outcome(commit)
	r.stay(held)
	return r, nil
}

// hint adds to the error about an unknown owner the remedy that names the owner
// of the fields.
func (c *Call) hint(err error) error {
	if !errors.Is(err, sidecar.ErrNotOwner) {
		return err
	}
	d, derr := c.Declaration()
	if derr != nil {
		return err
	}
	_, derr = c.patch(d)
	if r := store.RemedyOf(derr); !r.IsZero() {
		return store.WithRemedy(err, r)
	}
	return err
}

// outcome fills in what became of the commit.
func (r *commitReport) outcome(commit sidecar.Commit) {
	r.Outcome, r.Folded = commit.Outcome.String(), commit.Folded
	if commit.Outcome == sidecar.Deferred {
		r.Patch = commit.Version.Nonce
		return
	}
	r.Version = commit.Version
	r.Changed = commit.Outcome == sidecar.Applied
	for _, ch := range commit.Changes {
		r.add(ch)
	}
}

// A change is a field's value before and after a commit; one that is unset is
// left out. Of a set it is the elements that came and went, and of a map the
// owner's part at each key that changed: the whole may be large.
type change struct {
	Before   jsontext.Value       `json:"before,omitzero"`
	After    jsontext.Value       `json:"after,omitzero"`
	Inserted []jsontext.Value     `json:"inserted,omitempty"`
	Removed  []jsontext.Value     `json:"removed,omitempty"`
	Keys     map[string]keyChange `json:"keys,omitempty"`
	// Observed has the versions that were seen before the value was produced,
	// if that is what changed.
	Observed map[string]sidecar.Version `json:"observed,omitempty"`
}

// A keyChange is what the owner has at a key before and after a commit.
type keyChange struct {
	Before jsontext.Value `json:"before,omitzero"`
	After  jsontext.Value `json:"after,omitzero"`
	// Anew says that the key was deleted, and created again.
	Anew bool `json:"anew,omitzero"`
}

// carryOut applies patch to tx. It returns what the max and min fields hold that
// patch writes; nothing if tx only writes.
func carryOut(tx *sidecar.Tx, patch sidecar.Patch) map[string]jsontext.Value {
	held := map[string]jsontext.Value{}
	for _, op := range patch {
		tx.Apply(op)
		moves := op.Verb == schema.VerbRaise || op.Verb == schema.VerbLower
		if moves && op.Key == "" && !tx.WriteOnly() {
			raw, _ := tx.Get(op.Field)
			held[op.Field] = slices.Clone(raw)
		}
	}
	return held
}

// add puts ch under its field.
func (r *commitReport) add(ch sidecar.Change) {
	f := r.Fields[ch.Field]
	switch {
	case ch.Key != "":
		if f.Keys == nil {
			f.Keys = map[string]keyChange{}
		}
		f.Keys[ch.Key] = keyChange{ch.Before, ch.After, ch.Anew}
	case r.owner.Fields[ch.Field].EffectiveKind() != schema.Set:
		f.Before, f.After, f.Observed = ch.Before, ch.After, ch.Observed
	case ch.After != nil:
		f.Inserted = append(f.Inserted, ch.After)
	default:
		f.Removed = append(f.Removed, ch.Before)
	}
	r.Fields[ch.Field] = f
}

// stay keeps the values of max and min fields that were not moved, since that may
// be a mistake of long ago. Such a value is as fresh as it was.
func (r *commitReport) stay(held map[string]jsontext.Value) {
	r.Stays = held
	for field := range r.Fields {
		delete(held, field)
	}
	r.Unobserved = slices.DeleteFunc(r.Unobserved, func(name string) bool { return held[name] != nil })
}

// Text returns a line for each value that changed, or one line if none did.
func (r *commitReport) Text(bool) string {
	o := r.owner
	if r.Patch != "" {
		return fmt.Sprintf("%s deferred patch %s: views show it, and the next commit folds it\n", r.Owner, r.Patch)
	}
	if r.Version.IsZero() {
		return fmt.Sprintf("%s unchanged, and never written\n", r.Owner)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s version %v\n", r.Owner, map[bool]string{true: "applied", false: "unchanged at"}[r.Changed], r.Version)
	for _, field := range o.FieldNames() {
		if raw, ok := r.Stays[field]; ok {
			fmt.Fprintf(&b, "  %s: stays %s\n", field, display.Value(o.Fields[field], raw))
		}
		if ch, ok := r.Fields[field]; ok {
			ch.write(&b, field, o.Fields[field])
		}
	}
	return b.String() + r.unobserved()
}

// unobserved returns a line for each field whose freshness nobody can tell now.
func (r *commitReport) unobserved() string {
	var b strings.Builder
	for _, field := range r.Unobserved {
		fmt.Fprintf(&b, "  %s: written without a token of what was seen, so that its freshness is unknown\n", field)
	}
	return b.String()
}

// write writes the lines of one field's change.
func (ch change) write(b *strings.Builder, field string, f schema.Field) {
	element, _ := f.Element()
	switch f.EffectiveKind() {
	case schema.Map:
		for _, key := range slices.Sorted(maps.Keys(ch.Keys)) {
			ch.Keys[key].write(b, field+" "+display.Key(key), f)
		}
	case schema.Set:
		for _, raw := range ch.Removed {
			fmt.Fprintf(b, "  %s: removed %s\n", field, display.Value(element, raw))
		}
		for _, raw := range ch.Inserted {
			fmt.Fprintf(b, "  %s: inserted %s\n", field, display.Value(element, raw))
		}
	default:
		if !bytes.Equal(ch.Before, ch.After) {
			fmt.Fprintf(b, "  %s: %s -> %s\n", field, display.Value(f, ch.Before), display.Value(f, ch.After))
		}
		for _, name := range slices.Sorted(maps.Keys(ch.Observed)) {
			fmt.Fprintf(b, "  %s: observed %s at %s\n", field, name, versionOf(ch.Observed[name]))
		}
	}
}

// versionOf puts the version of a field into words.
func versionOf(v sidecar.Version) string {
	if v.IsZero() {
		return "no version: nobody had written it"
	}
	return "version " + v.String()
}

// write writes the lines of what changed at a key of the map f: one for each
// member, or one for the key.
func (ch keyChange) write(b *strings.Builder, where string, f schema.Field) {
	switch {
	case ch.Anew:
		fmt.Fprintf(b, "  %s: deleted and created anew\n", where)
	case f.Value != nil:
		fmt.Fprintf(b, "  %s: %s -> %s\n", where, display.Value(*f.Value, ch.Before), display.Value(*f.Value, ch.After))
		return
	case ch.After == nil:
		fmt.Fprintf(b, "  %s: deleted\n", where)
		return
	case string(ch.After) == "{}" && ch.Before == nil:
		fmt.Fprintf(b, "  %s: created\n", where)
		return
	}
	before, _ := schema.ParseObject(ch.Before) // what is stored is one; unset has no members
	after, _ := schema.ParseObject(ch.After)
	for _, member := range f.MemberNames() {
		old, _ := before.Value(member)
		now, _ := after.Value(member)
		if !bytes.Equal(old, now) {
			fmt.Fprintf(b, "  %s %s: %s -> %s\n", where, member, display.Value(f.Record[member], old), display.Value(f.Record[member], now))
		}
	}
}
