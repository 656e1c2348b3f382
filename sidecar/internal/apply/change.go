package apply

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/go-json-experiment/json/jsontext"
)

// Merge moves the changes of the layer upper, on top of l, into l, and reports
// whether there are any. by is the provenance of a pending patch, or nil for the
// commit's own.
func (l *Layer) Merge(upper *Layer, by *document.Provenance) (changed bool) {
	for p, s := range upper.changes {
		if s.equal(l.slot(p)) {
			continue
		}
		if l.changes == nil {
			l.changes = map[place]slot{}
		}
		l.changes[p], changed = s, true
		if by == nil {
			delete(l.by, p.field)
			continue
		}
		if l.by == nil {
			l.by = map[string]document.Provenance{}
		}
		l.by[p.field] = *by
	}
	for field, n := range upper.grown {
		if l.grown == nil {
			l.grown = map[string]int{}
		}
		l.grown[field] += n
	}
	return changed
}

// A Change is the effect of one Update on a field, on an element of a set, or on
// a key of a map.
type Change struct {
	Field string `json:"field"`
	Key   string `json:"key,omitzero"` // of a map; else empty
	// Before and After are JSON, nil if unset. Of a set they are the element: one
	// that was inserted has no Before, one that was removed no After. Of a map
	// they are the owner's part at Key.
	Before jsontext.Value `json:"before,omitzero"`
	After  jsontext.Value `json:"after,omitzero"`
	// Anew says that the key was deleted and created again.
	Anew bool `json:"anew,omitzero"`
	// Observed are the versions that were seen before a dependent value was
	// produced, if they have changed; else nil.
	Observed map[string]document.Version `json:"observed,omitempty"`
}

// Changes returns the changes of the layer upper on top of l, by field and part.
// The tokens of events are left out.
func (l *Layer) Changes(upper *Layer) (all []Change) {
	for _, p := range l.places(upper.changes) {
		was, now := l.slot(p), upper.changes[p]
		ch := Change{Field: p.field, Before: bytes.Clone(was.raw), After: bytes.Clone(now.raw)}
		switch kind := l.kind(p.field); {
		case p.part == "":
			if !maps.Equal(was.seen, now.seen) {
				ch.Observed = now.seen
			}
		case kind == schema.Set && was.set:
			ch.Before = jsontext.Value(p.part)
		case kind == schema.Set:
			ch.After = jsontext.Value(p.part)
		case kind == schema.Map:
			ch.Key = p.part
			other := was.set && now.set && was.born != now.born
			if _, decides := l.rules.KeysOwner(p.field); other && !decides {
				ch.Before = nil // it went with its key
			} else {
				ch.Anew = other
			}
		}
		same := was.set == now.set && bytes.Equal(was.raw, now.raw) && !ch.Anew && ch.Observed == nil
		if !same && (ch.Before != nil || ch.After != nil) {
			all = append(all, ch)
		}
	}
	return all
}

// places returns the places of changes, sorted by field and, within a field, as its
// value has them.
func (l *Layer) places(changes map[place]slot) []place {
	all := make([]place, 0, len(changes))
	for p := range changes {
		all = append(all, p)
	}
	slices.SortFunc(all, l.order)
	return all
}

// order compares places by field, then by part as the field's value has it.
func (l *Layer) order(a, b place) int {
	if a.field != b.field || a.part == "" || b.part == "" || l.kind(a.field) == schema.Event {
		return cmp.Or(strings.Compare(a.field, b.field), strings.Compare(a.part, b.part))
	}
	return l.table(a.field).order(a.part, b.part)
}

// Write puts the layer's changes into doc, a clone of the sidecar. own is the
// provenance of fields that no pending patch changed. gone reports whether a row
// of a map is attached to an incarnation that was deleted; nil if it is not known.
func (l *Layer) Write(doc *document.Document, own document.Provenance, gone func(field string, row document.Row) bool) {
	for rest := l.places(l.changes); len(rest) > 0; {
		field := rest[0].field
		by, ok := l.by[field]
		if !ok {
			by = own
		}
		n := 1
		for n < len(rest) && rest[n].field == field {
			n++
		}
		parts := rest[:n]
		if rest[0].part == "" {
			parts = rest[1:n]
			l.writeValue(doc, field, by)
		}
		if len(parts) > 0 {
			l.writeParts(doc, field, parts, by, gone)
		}
		rest = rest[n:]
	}
}

func (l *Layer) writeValue(doc *document.Document, field string, by document.Provenance) {
	s := l.changes[place{field: field}]
	if !s.set {
		doc.Clear(field, by)
		return
	}
	doc.Set(field, s.raw, by)
	doc.Observe(field, s.seen)
}

func (l *Layer) writeParts(doc *document.Document, field string, parts []place, by document.Provenance, gone func(string, document.Row) bool) {
	kind := l.kind(field)
	if kind == schema.Event {
		for _, p := range parts {
			if s := l.changes[p]; s.set {
				begun := by
				if s.pid != 0 {
					begun.PID = s.pid
				}
				doc.Begin(field, p.part, begun)
			} else {
				doc.End(field, p.part)
			}
		}
		return
	}
	changes := make(map[string]slot, len(parts))
	for _, p := range parts {
		changes[p.part] = l.changes[p]
	}
	rows := l.table(field).with(changes)
	if kind == schema.Set {
		doc.Set(field, renderSet(rows), by)
		return
	}
	if gone != nil {
		rows = slices.DeleteFunc(rows, func(row document.Row) bool { return gone(field, row) })
	}
	doc.SetRows(field, rows, by)
}
