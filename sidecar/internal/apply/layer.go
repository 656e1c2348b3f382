package apply

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/freehold-dev/freehold/sidecar/internal/status"
)

// A place is the target of one operation: a field or, with a part, an element
// of a set, as JSON, a key of a map, or a token of an event.
type place struct{ field, part string }

// A slot is the content of a place.
type slot struct {
	raw  []byte // JSON; none for an element of a set
	set  bool
	born document.Version // of a key, its incarnation
	// ended says that an event was done or abandoned here, which is a change
	// also if the value stays.
	ended bool
	// pid of the process that a beginning is for.
	pid int
	// seen is the observation of the field's writer; nil if it is not known.
	seen document.Observation
}

// equal reports whether two slots hold the same. Equal values have equal bytes:
// each has one stored form. A value with another observation is another one.
func (s slot) equal(t slot) bool {
	return s.set == t.set && s.ended == t.ended && (!s.set || bytes.Equal(s.raw, t.raw) && s.born == t.born && maps.Equal(s.seen, t.seen))
}

// A Layer is changes on top of a sidecar, or on top of another layer: one
// Update's on top of those that share its commit. It is not safe for concurrent
// use.
type Layer struct {
	rules   *Rules
	below   *Layer
	base    *document.Document
	changes map[place]slot
	grown   map[string]int                 // by field, how many parts the changes add
	tables  map[string]*table              // of the sidecar; the lowest layer has them
	by      map[string]document.Provenance // by field, of the patch that changed it last

	// Next is the version of the commit, which names the keys that it creates.
	Next document.Version
	// Others are the keys of other owners' maps, by owner, as they were when the
	// Update began; nil for a view.
	Others map[string]*Keys
	born   document.Version // of keys that a pending patch creates; else zero
}

// NewLayer returns an empty layer on top of the sidecar base.
func NewLayer(rules *Rules, base *document.Document, next document.Version) *Layer {
	return &Layer{rules: rules, base: base, Next: next}
}

// On returns an empty layer on top of l.
func (l *Layer) On(others map[string]*Keys) *Layer {
	return &Layer{rules: l.rules, below: l, base: l.base, Next: l.Next, Others: others}
}

// Base returns the sidecar below all layers.
func (l *Layer) Base() *document.Document { return l.base }

// Idle reports whether the layer changes nothing.
func (l *Layer) Idle() bool { return l == nil || len(l.changes) == 0 }

func (l *Layer) slot(p place) slot {
	if s, ok := l.changes[p]; ok {
		return s
	}
	if l.below != nil {
		return l.below.slot(p)
	}
	if p.part != "" && l.kind(p.field) == schema.Event {
		return slot{set: slices.ContainsFunc(l.base.Open(p.field), func(o document.Opening) bool { return o.Token == p.part })}
	}
	if p.part != "" {
		return l.table(p.field).slot(p.part)
	}
	raw := l.base.Value(p.field)
	s := slot{raw: raw, set: raw != nil}
	if l.declared(p.field).Dependent() {
		s.seen = l.base.Observed(p.field)
	}
	return s
}

func (l *Layer) declared(field string) schema.Field {
	return l.rules.Declaration.Owners[l.rules.Owner].Fields[field]
}

func (l *Layer) kind(field string) schema.Kind { return l.declared(field).EffectiveKind() }

func (l *Layer) change(p place, s slot) {
	if was := l.slot(p).set; p.part != "" && was != s.set {
		if l.grown == nil {
			l.grown = map[string]int{}
		}
		l.grown[p.field]--
		if s.set {
			l.grown[p.field] += 2
		}
	}
	if l.changes == nil {
		l.changes = map[place]slot{}
	}
	l.changes[p] = s
}

// parts returns how many parts a field has: elements, keys, or open tokens.
func (l *Layer) parts(field string) int {
	switch {
	case l.below != nil:
		return l.below.parts(field) + l.grown[field]
	case l.kind(field) == schema.Event:
		return len(l.base.Open(field)) + l.grown[field]
	}
	return len(l.table(field).rows) + l.grown[field]
}

// Get returns the value of a field and whether it is set; of a map, the owner's
// part. The bytes must not be changed.
func (l *Layer) Get(field string) (raw []byte, ok bool, err error) {
	f, err := l.rules.Field(field)
	if err != nil {
		return nil, false, err
	}
	kind := f.EffectiveKind()
	if kind == schema.Once {
		return nil, false, fmt.Errorf("field %s: %w: it is a once field and no part of a commit: read it in a view", field, status.Value)
	}
	s := l.slot(place{field: field})
	if kind != schema.Set && kind != schema.Map || l.table(field).err != nil {
		return s.raw, s.set, nil // as it is stored, also if that does not fit
	}
	rows := l.rows(field)
	switch {
	case !s.set && len(rows) == 0:
		return nil, false, nil
	case kind == schema.Set:
		return renderSet(rows), true, nil
	}
	return renderMap(rows), true, nil
}

// Observed returns the observation of the writer of a field of the owner; nil if it
// is not known.
func (l *Layer) Observed(field string) map[string]document.Version {
	return l.slot(place{field: field}).seen
}

// Has reports whether the JSON raw is an element of the set in a field.
func (l *Layer) Has(field string, raw []byte) (bool, error) {
	f, err := l.rules.Field(field)
	if err != nil {
		return false, err
	}
	of, ok := f.Element()
	if !ok {
		return false, fmt.Errorf("it is no set: read it with Get")
	}
	element, err := of.Normalize(raw)
	if err != nil {
		return false, err
	}
	return l.slot(place{field, string(element)}).set, l.table(field).err
}

// Apply carries out op. carried says that members of a record which the program
// does not know came with the value from its source. An error has changed
// nothing, and names no place.
func (l *Layer) Apply(f schema.Field, op Op, carried bool) error {
	if err := op.check(f); err != nil {
		return err
	}
	switch f.EffectiveKind() {
	case schema.Map:
		return l.applyKey(f, op, carried)
	case schema.Set:
		return l.applyElement(f, op)
	case schema.Event:
		return l.applyEvent(f, op)
	}
	p := place{field: op.Field}
	s, err := subject{f, l.rules.known(op.Field, f), l.slot(p), carried}.apply(op)
	if err != nil {
		return Invalid(err)
	}
	if s, err = l.rules.observe(f, op, s); err != nil {
		return err
	}
	l.change(p, s)
	return nil
}

// applyElement carries out op on a set.
func (l *Layer) applyElement(f schema.Field, op Op) error {
	raw, err := element(f, op)
	if err != nil {
		return err
	}
	if err := l.table(op.Field).err; err != nil {
		return Invalid(err)
	}
	p := place{op.Field, string(raw)}
	if op.Verb == VerbInsert && !l.slot(p).set && l.parts(op.Field) >= schema.MaxElements {
		return Invalid(fmt.Errorf("more than the %d elements allowed: remove some", schema.MaxElements))
	}
	l.change(p, slot{set: op.Verb == VerbInsert})
	return nil
}

// Put makes raw the value of a field, nil to clear it, by no operation: for the
// adoption of an edit by another hand.
func (l *Layer) Put(field string, raw []byte) {
	l.change(place{field: field}, slot{raw: raw, set: raw != nil})
}

// PutRow makes row the content of a map at its key, as Put does.
func (l *Layer) PutRow(field string, row document.Row) {
	l.change(place{field, row.Key}, slot{raw: row.Value, set: true, born: row.Born})
}
