package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/schema"
	"github.com/go-json-experiment/json/jsontext"
)

// A differ says what is new in a view, compared with those before.
type differ struct {
	known  map[string]stand  // by field; of one that cannot be had now, when it could
	owners map[string]string // what was last said of the owners' sidecars
}

// A stand is what a view shows of one field.
type stand struct {
	raw   jsontext.Value // nil if it is unset, or cannot be had
	bad   string         // why it cannot be had
	by    origin
	open  int            // how many events have begun and are not done
	fresh reader.Verdict // of a dependent field
}

func (s stand) same(t stand) bool {
	return bytes.Equal(s.raw, t.raw) && s.bad == t.bad && s.open == t.open && s.fresh == t.fresh &&
		s.by.Version == t.by.Version && s.by.Claim == t.by.Claim
}

// A piece of news is what became of a field, of a key of a map or, if it names no
// field, of the sidecar of an owner.
type news struct {
	Field string         `json:"field,omitzero"`
	Key   *string        `json:"key,omitempty"`
	Value jsontext.Value `json:"value,omitzero"` // nil if it is unset
	origin
	Open      int            `json:"open,omitzero"`
	Freshness reader.Verdict `json:"freshness,omitzero"`
	Error     string         `json:"error,omitzero"`

	declared schema.Field // of the value
}

// between returns what differs in view from what is known, of the owners and
// fields that are wanted, and knows it from then on.
func (d *differ) between(view *reader.View, wanted func(owner, field string) bool) []news {
	if d.known == nil {
		d.known, d.owners = map[string]stand{}, map[string]string{}
	}
	var all []news
	for _, o := range view.Owners() {
		fields := view.Declaration().Owners[o.Name].FieldNames()
		if slices.ContainsFunc(fields, func(field string) bool { return wanted(o.Name, field) }) {
			all = append(all, d.ofOwner(o)...)
		}
	}
	for _, field := range fieldNames(view) {
		if slices.ContainsFunc(ownersOf(view.Declaration(), field), func(owner string) bool { return wanted(owner, field) }) {
			all = append(all, d.ofField(view, field)...)
		}
	}
	return all
}

// ofOwner returns the change of an owner's sidecar. That the first commit makes
// one is none: its fields say so.
func (d *differ) ofOwner(o reader.OwnerStatus) []news {
	n := news{origin: origin{Owner: o.Name, File: o.File, Status: o.Status}}
	if err := errors.Join(o.Err, o.PendingErr); err != nil {
		n.Error = err.Error()
	}
	says := string(o.Status) + " " + n.Error
	before := cmp.Or(d.owners[o.Name], "missing ")
	d.owners[o.Name] = says
	if says == before || says == "ok " && before == "missing " {
		return nil
	}
	return []news{n}
}

// ofField returns the changes of a field: one, or of a map one for each key.
func (d *differ) ofField(view *reader.View, field string) []news {
	entry := view.Field(field)
	raw, err := entry.Raw()
	if err != nil && ofOwner(view, err) {
		return nil // the change of the owner says it
	}
	f, _ := view.Declaration().Joined(field)
	now := stand{raw: raw, by: lastOrigin(view, field), open: len(entry.Open())}
	if f.Dependent() && raw != nil {
		now.fresh = entry.Freshness().Verdict
	}
	if err != nil && !errors.Is(err, reader.ErrUnset) {
		now.bad = err.Error()
		_, now.by.Status = culprit(view, field)
	}
	before := d.known[field]
	if now.same(before) {
		return nil
	}
	d.known[field] = now
	if f.EffectiveKind() == schema.Map && now.bad == "" {
		return ofKeys(field, f, before, now)
	}
	return []news{{Field: field, Value: raw, origin: now.by, Open: now.open, Freshness: now.fresh, Error: now.bad, declared: f}}
}

// lastOrigin returns where what was last written of a field comes from.
func lastOrigin(view *reader.View, field string) origin {
	owner, _ := view.Declaration().OwnerOf(field)
	if by, ok := lastWriter(view, field); ok {
		owner = by.Owner
	}
	return originOf(view, field, owner)
}

// ofKeys returns the changes of the keys of a map.
func ofKeys(field string, f schema.Field, before, now stand) []news {
	was, is := keyed(before.raw), keyed(now.raw)
	value := schema.Field{Type: schema.TypeRecord, Fields: f.Record}
	if f.Value != nil {
		value = *f.Value
	}
	keys := maps.Clone(is)
	maps.Copy(keys, was)
	var all []news
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if !bytes.Equal(was[key], is[key]) {
			all = append(all, news{Field: field, Key: &key, Value: is[key], origin: now.by, declared: value})
		}
	}
	return all
}

// keyed returns the members of a JSON object, which may be none.
func keyed(raw jsontext.Value) map[string]jsontext.Value {
	members := map[string]jsontext.Value{}
	if raw == nil {
		return members
	}
	object, err := schema.ParseObject(raw)
	if err != nil {
		return members // a view holds no such map
	}
	for _, m := range object {
		members[m.Name] = m.Value
	}
	return members
}

var (
	nameStyle  = lipgloss.NewStyle().Bold(true)
	faintStyle = lipgloss.NewStyle().Faint(true)
	badStyle   = lipgloss.NewStyle().Foreground(lipgloss.Red)
)

// line returns the change for a terminal.
func (n news) line() string {
	if n.Field == "" {
		return n.ownerLine()
	}
	name, value := n.Field, shownValue(n.declared, n.Value)
	if n.Key != nil {
		name += " " + shownKey(*n.Key)
	}
	switch {
	case n.Error != "":
		value = badStyle.Render(alarm + visible(onOneLine(n.Error)))
	case n.Value == nil:
		value = faintStyle.Render(value)
	}
	return fmt.Sprintf("%s  %s = %s  %s\n", faintStyle.Render(fmt.Sprintf("%-24s", cmp.Or(n.at, none))), nameStyle.Render(name), value, faintStyle.Render(n.source()))
}

// source says whose the field is, who wrote it and in which version, and what
// else there is to say.
func (n news) source() string {
	parts := []string{"(" + n.Owner}
	if n.written {
		parts[0] += fmt.Sprintf(": %s %d", visible(n.Program), n.PID)
		switch {
		case n.Claim != "":
			parts = append(parts, "claim "+n.Claim)
		case n.Version.IsPending():
			parts = append(parts, "deferred as "+n.Version.Nonce)
		default:
			parts = append(parts, "version "+n.Version.String())
		}
	}
	if n.Open > 0 {
		parts = append(parts, "begun and not done")
	}
	if n.Freshness != "" {
		parts = append(parts, "freshness "+string(n.Freshness))
	}
	return strings.Join(parts, ", ") + ")"
}

func (n news) ownerLine() string {
	if n.Error == "" {
		return fmt.Sprintf("%-24s  owner %s is %s\n", none, nameStyle.Render(n.Owner), n.Status)
	}
	return fmt.Sprintf("%-24s  owner %s is %s\n", none, nameStyle.Render(n.Owner), badStyle.Render(alarm+string(n.Status)+": "+visible(onOneLine(n.Error))))
}
