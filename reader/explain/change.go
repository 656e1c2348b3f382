package explain

import (
	"bytes"
	"cmp"
	"errors"
	"maps"
	"slices"

	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/schema"
	"github.com/go-json-experiment/json/jsontext"
)

// A Change is a difference between two views: of a field, of a key of a map,
// or, without a field, of an owner's sidecar.
type Change struct {
	Field string         `json:"field,omitzero"`
	Key   *string        `json:"key,omitempty"`
	Value jsontext.Value `json:"value,omitzero"` // nil if it is unset
	Origin
	Open      int            `json:"open,omitzero"`
	Freshness reader.Verdict `json:"freshness,omitzero"`
	Error     string         `json:"error,omitzero"` // the text of Err

	Err      error        `json:"-"` // why the field or sidecar cannot be read
	Declared schema.Field `json:"-"` // of the value
}

// A Differ compares views that follow each other. The zero Differ knows none,
// so that its first differences are all that the first view shows. It is not
// safe for concurrent use.
type Differ struct {
	known  map[string]fieldState // by field, of the last view in which it could be read
	owners map[string]string     // by owner, the status reported last
}

// A fieldState is a field in one view.
type fieldState struct {
	raw   jsontext.Value // nil if it is unset or cannot be read
	err   error          // why it cannot be read
	by    Origin
	open  int            // open tokens of an event
	fresh reader.Verdict // of a dependent field
}

func (s fieldState) same(t fieldState) bool {
	return bytes.Equal(s.raw, t.raw) && text(s.err) == text(t.err) && s.open == t.open && s.fresh == t.fresh &&
		s.by.Version == t.by.Version && s.by.Claim == t.by.Claim
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// Begun reports whether the Differ has compared a view yet.
func (d *Differ) Begun() bool { return d.known != nil }

// Next returns the changes in view since the last one, of the owners and fields
// that wanted selects.
func (d *Differ) Next(view *reader.View, wanted func(owner, field string) bool) []Change {
	if d.known == nil {
		d.known, d.owners = map[string]fieldState{}, map[string]string{}
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
	err := errors.Join(o.Err, o.PendingErr)
	c := Change{Origin: Origin{Owner: o.Name, File: o.File, Status: o.Status}, Err: err, Error: text(err)}
	now := string(o.Status) + " " + c.Error
	before := cmp.Or(d.owners[o.Name], "missing ")
	d.owners[o.Name] = now
	if now == before || now == "ok " && before == "missing " {
		return nil
	}
	return []Change{c}
}

// fieldChanges returns the changes of a field: at most one, or of a map one for
// each key.
func (d *Differ) fieldChanges(view *reader.View, field string) []Change {
	entry := view.Field(field)
	raw, err := entry.Raw()
	if err != nil && view.IsOwnerError(err) {
		return nil // the owner's change tells of it
	}
	f, _ := view.Declaration().Joined(field)
	now := fieldState{raw: raw, by: lastOrigin(view, field), open: len(entry.Open())}
	if f.Dependent() && raw != nil {
		now.fresh = entry.Freshness().Verdict
	}
	if err != nil && !errors.Is(err, reader.ErrUnset) {
		now.err = err
		_, now.by.Status = entry.Obstacle()
	}
	before := d.known[field]
	if now.same(before) {
		return nil
	}
	d.known[field] = now
	if f.EffectiveKind() == schema.Map && now.err == nil {
		return keyChanges(field, f, before, now)
	}
	return []Change{{Field: field, Value: raw, Origin: now.by, Open: now.open, Freshness: now.fresh, Error: text(now.err), Err: now.err, Declared: f}}
}

// lastOrigin returns the origin of the last change of a field.
func lastOrigin(view *reader.View, field string) Origin {
	owner, _ := view.Declaration().OwnerOf(field)
	if by, ok := view.Field(field).LastChange(); ok {
		owner = by.Owner
	}
	return OriginOf(view, field, owner)
}

// keyChanges returns the changes of the keys of a map.
func keyChanges(field string, f schema.Field, before, now fieldState) []Change {
	old, new := members(before.raw), members(now.raw)
	value := schema.Field{Type: schema.TypeRecord, Fields: f.Record}
	if f.Value != nil {
		value = *f.Value
	}
	keys := maps.Clone(new)
	maps.Copy(keys, old)
	var all []Change
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if !bytes.Equal(old[key], new[key]) {
			all = append(all, Change{Field: field, Key: &key, Value: new[key], Origin: now.by, Declared: value})
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
