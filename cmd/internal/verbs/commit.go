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
	Owner   string           `json:"owner"`
	Outcome string           `json:"outcome"`
	Changed bool             `json:"changed"`
	Version sidecar.Version  `json:"version"`
	Changes []sidecar.Change `json:"changes,omitempty"`
	// Patch is the id of the pending patch if the commit is deferred.
	Patch string `json:"patch,omitzero"`
	// Folded counts the pending patches that the commit folded.
	Folded int `json:"folded,omitzero"`
	// Stays has the values of max and min fields that were not moved, which may be
	// a mistake of long ago.
	Stays map[string]jsontext.Value `json:"stays,omitempty"`
	// Unobserved are the dependent fields that were written without a token.
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
	r := &commitReport{Owner: owner, owner: writer.Declaration().Owners[owner]}
	if r.Unobserved, err = c.addSeen(patch, r.owner); err != nil {
		return nil, err
	}
	commit, err := writer.Update(ctx, func(tx *sidecar.Tx) error {
		if _, given := c.Flags[ifVersion.Name]; given { // an empty version is that of a sidecar never written
			tx.IfVersion(version)
		}
		r.Stays = carryOut(tx, patch)
		return nil
	})
	if err != nil {
		return nil, err
	}
	r.Outcome, r.Folded = commit.Outcome.String(), commit.Folded
	if commit.Outcome == sidecar.Deferred {
		r.Patch = commit.Version.Nonce
		return r, nil
	}
	r.Version, r.Changed, r.Changes = commit.Version, commit.Outcome == sidecar.Applied, commit.Changes
	for _, ch := range r.Changes {
		delete(r.Stays, ch.Field)
	}
	// A value that stays is as fresh as it was.
	r.Unobserved = slices.DeleteFunc(r.Unobserved, func(name string) bool { return r.Stays[name] != nil })
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

// carryOut applies patch to tx. It returns the values that max and min fields of
// patch have then; none if tx only writes.
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

// Line returns the change in one line.
func (r *commitReport) Line() string {
	var b strings.Builder
	for _, ch := range r.Changes {
		ch.Observed = nil
		writeChange(&b, ch, r.owner.Fields[ch.Field])
	}
	for _, field := range slices.Sorted(maps.Keys(r.Stays)) {
		fmt.Fprintf(&b, "%s: stays %s\n", field, display.Value(r.owner.Fields[field], r.Stays[field]))
	}
	var parts []string
	for line := range strings.Lines(b.String()) {
		parts = append(parts, strings.Replace(strings.TrimSpace(line), ": ", " ", 1))
	}
	switch {
	case r.Patch != "":
		return r.Owner + " deferred"
	case len(parts) == 0:
		parts = []string{r.Owner + " unchanged"}
	}
	return fmt.Sprintf("%s, version %d", strings.Join(parts, ", "), r.Version.Revision)
}

// Deferred tells of the pending patch, or returns "".
func (r *commitReport) Deferred() string {
	if r.Patch == "" {
		return ""
	}
	return strings.TrimSpace(r.Text(false))
}

// Text returns a line for each value that changed, or one line if none did.
func (r *commitReport) Text(bool) string {
	if r.Patch != "" {
		return fmt.Sprintf("%s deferred patch %s: views show it, and the next commit folds it\n", r.Owner, r.Patch)
	}
	if r.Version.IsZero() {
		return fmt.Sprintf("%s unchanged, and never written\n", r.Owner)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s version %v\n", r.Owner, map[bool]string{true: "applied", false: "unchanged at"}[r.Changed], r.Version)
	if r.Folded > 0 {
		fmt.Fprintf(&b, "  folded %s\n", display.Count(r.Folded, "pending patch", "pending patches"))
	}
	for _, field := range slices.Sorted(maps.Keys(r.Stays)) {
		fmt.Fprintf(&b, "  %s: stays %s\n", field, display.Value(r.owner.Fields[field], r.Stays[field]))
	}
	for _, ch := range r.Changes {
		writeChange(&b, ch, r.owner.Fields[ch.Field])
	}
	for _, field := range r.Unobserved {
		fmt.Fprintf(&b, "  %s: written without a token of observe, so that its freshness is unknown\n", field)
	}
	return b.String()
}

// writeChange writes the lines of a change of f.
func writeChange(b *strings.Builder, ch sidecar.Change, f schema.Field) {
	element, _ := f.Element()
	switch kind := f.EffectiveKind(); {
	case kind == schema.Map:
		writeKey(b, ch, f)
	case kind == schema.Set && ch.After == nil:
		fmt.Fprintf(b, "  %s: removed %s\n", ch.Field, display.Value(element, ch.Before))
	case kind == schema.Set:
		fmt.Fprintf(b, "  %s: inserted %s\n", ch.Field, display.Value(element, ch.After))
	case !bytes.Equal(ch.Before, ch.After):
		fmt.Fprintf(b, "  %s: %s -> %s\n", ch.Field, display.Value(f, ch.Before), display.Value(f, ch.After))
	}
	for _, name := range slices.Sorted(maps.Keys(ch.Observed)) {
		version := "no version: nobody had written it"
		if v := ch.Observed[name]; !v.IsZero() {
			version = "version " + v.String()
		}
		fmt.Fprintf(b, "  %s: observed %s at %s\n", ch.Field, name, version)
	}
}

// writeKey writes the lines of a change at a key of the map f: one for each
// member, or one for the key.
func writeKey(b *strings.Builder, ch sidecar.Change, f schema.Field) {
	where := ch.Field + " " + display.Key(ch.Key)
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
	before, _ := schema.ParseObject(ch.Before) // stored bytes are an object; unset has no members
	after, _ := schema.ParseObject(ch.After)
	for _, member := range f.MemberNames() {
		old, _ := before.Value(member)
		now, _ := after.Value(member)
		if !bytes.Equal(old, now) {
			fmt.Fprintf(b, "  %s %s: %s -> %s\n", where, member, display.Value(f.Record[member], old), display.Value(f.Record[member], now))
		}
	}
}
