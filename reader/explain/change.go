package explain

import (
	"bytes"
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/go-json-experiment/json/jsontext"
)

// A Change is a difference between two views: of a field, of a key of a map,
// or, without a field, of an owner's sidecar.
type Change struct {
	Field string         `json:"field,omitzero"`
	Key   *string        `json:"key,omitempty"`
	Value jsontext.Value `json:"value,omitzero"` // nil if it is unset
	reader.Provenance
	Open      int            `json:"open,omitzero"`      // open tokens of an event
	Freshness reader.Verdict `json:"freshness,omitzero"` // of a dependent field
	Error     string         `json:"error,omitzero"`     // the text of Err

	// Cause is the dependency with the change that alone changed the freshness.
	// ChangedAt, Program and PID are then of that dependency's change.
	Cause string `json:"cause,omitzero"`

	Err      error        `json:"-"` // why the field or sidecar cannot be read
	Declared schema.Field `json:"-"` // of the value
	// Before is the field, key or sidecar as the last view showed it.
	Before *Change `json:"-"`
}

// A Differ compares views that follow each other. The zero Differ knows none,
// so that its first differences are all that the first view shows. It is not
// safe for concurrent use.
type Differ struct {
	known  map[string]Change // by field, of the last view in which it could be read
	owners map[string]string // by owner, the status reported last
}

func (c Change) same(d Change) bool {
	return bytes.Equal(c.Value, d.Value) && c.Error == d.Error && c.Open == d.Open && c.Freshness == d.Freshness &&
		c.Version == d.Version && c.Claim == d.Claim
}

func (c *Change) fail(err error) {
	if c.Err = err; err != nil {
		c.Error = err.Error()
	}
}

// Begun reports whether the Differ has compared a view yet.
func (d *Differ) Begun() bool { return d.known != nil }

// Next returns the changes in view since the last one, of the owners and fields
// that wanted selects.
func (d *Differ) Next(view *reader.View, wanted func(owner, field string) bool) []Change {
	if d.known == nil {
		d.known, d.owners = map[string]Change{}, map[string]string{}
	}
	var all []Change
	for _, o := range view.Owners() {
		fields := view.Declaration().Owners[o.Name].FieldNames()
		if slices.ContainsFunc(fields, func(field string) bool { return wanted(o.Name, field) }) {
			all = append(all, d.ownerChange(o)...)
		}
	}
	for _, field := range view.FieldNames() {
		if slices.ContainsFunc(view.Field(field).Owners(), func(owner string) bool { return wanted(owner, field) }) {
			all = append(all, d.fieldChanges(view, field)...)
		}
	}
	return all
}

// ownerChange returns the change of an owner's status. A first commit makes none:
// the changes of its fields tell of it.
func (d *Differ) ownerChange(o reader.OwnerStatus) []Change {
	c := Change{Provenance: reader.Provenance{Owner: o.Name, File: o.File, Status: o.Status}}
	c.fail(errors.Join(o.Err, o.PendingErr))
	now := string(o.Status) + " " + c.Error
	before := cmp.Or(d.owners[o.Name], "missing ")
	was, _, _ := strings.Cut(before, " ")
	c.Before = &Change{Provenance: reader.Provenance{Status: store.Status(was)}}
	d.owners[o.Name] = now
	if now == before || now == "ok " && before == "missing " {
		return nil
	}
	return []Change{c}
}

// Row returns a field as it stands, as a change from unset.
func Row(view *reader.View, field string) Change {
	entry := view.Field(field)
	c := Change{Field: field, Open: len(entry.Open())}
	c.Declared, _ = view.Declaration().Joined(field)
	var written bool
	if c.Provenance, written = entry.LastChange(); !written {
		c.Provenance, _ = entry.Provenance()
	}
	raw, err := entry.Raw()
	c.Value = raw
	if c.Declared.Dependent() && raw != nil {
		c.Freshness = entry.Freshness().Verdict
	}
	if err != nil && !errors.Is(err, reader.ErrUnset) {
		c.fail(err)
		c.Owner, c.Status = entry.Obstacle()
	}
	return c
}

// fieldChanges returns the changes of a field: at most one, or of a map one for
// each key.
func (d *Differ) fieldChanges(view *reader.View, field string) []Change {
	now, before := Row(view, field), d.known[field]
	if now.Err != nil && view.IsOwnerError(now.Err) || now.same(before) {
		return nil // the owner's change tells of its error
	}
	d.known[field] = now
	now.Before = &before
	if before.Value != nil && now.Version == before.Version && now.Freshness != before.Freshness {
		now.dated(view)
	}
	if now.Declared.EffectiveKind() == schema.Map && now.Err == nil {
		return keyChanges(before, now)
	}
	return []Change{now}
}

// dated gives a change of the freshness alone the time and the program of the
// change that made it: that of the dependency, or the beginning of an event. The
// version stays that of the field.
func (c *Change) dated(view *reader.View) {
	of := view.Field(c.Field).Freshness().Field
	if of == "" {
		return
	}
	c.Cause = of
	dependency := view.Field(of)
	if open := dependency.Open(); c.Freshness == reader.Ambiguous && len(open) > 0 {
		begun := open[len(open)-1]
		c.ChangedAt, c.Program, c.PID = begun.BegunAt, begun.Program, begun.PID
	} else if by, written := dependency.LastChange(); written {
		c.ChangedAt, c.Program, c.PID = by.ChangedAt, by.Program, by.PID
	}
}

// keyChanges returns the changes of the keys of a map.
func keyChanges(before, now Change) (all []Change) {
	old, new := members(before.Value), members(now.Value)
	value := schema.Field{Type: schema.TypeRecord, Fields: now.Declared.Record}
	if now.Declared.Value != nil {
		value = *now.Declared.Value
	}
	keys := maps.Clone(new)
	maps.Copy(keys, old)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if !bytes.Equal(old[key], new[key]) {
			all = append(all, Change{Field: now.Field, Key: &key, Value: new[key], Provenance: now.Provenance, Declared: value, Before: &Change{Value: old[key]}})
		}
	}
	return all
}

// members returns the members of a map's JSON, which may be nil.
func members(raw jsontext.Value) map[string]jsontext.Value {
	all := map[string]jsontext.Value{}
	object, err := schema.ParseObject(raw)
	if raw == nil || err != nil {
		return all
	}
	for _, m := range object {
		all[m.Name] = m.Value
	}
	return all
}
