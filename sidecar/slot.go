package sidecar

import (
	"bytes"
	"maps"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/document"
)

// A place is what one operation changes: a field or, with a part, an element
// of a set, as JSON, a key of a map, or a token of an event.
type place struct{ field, part string }

// A slot is what stands at a place.
type slot struct {
	raw  []byte // JSON; none for an element of a set
	set  bool
	born Version // of a key, its incarnation
	// ended says that an event was done or abandoned here, which is a change
	// also where the value stays.
	ended bool
	// seen is what the writer of a field had observed; nil if that is not
	// known.
	seen document.Observation
}

// equal reports whether two slots hold the same: every value has one stored
// form, so equal values have equal bytes. A value that
// was produced after something else was observed is another one.
func (s slot) equal(t slot) bool {
	return s.set == t.set && s.ended == t.ended && (!s.set || bytes.Equal(s.raw, t.raw) && s.born == t.born && maps.Equal(s.seen, t.seen))
}

// slot returns what stands at p for this transaction.
func (tx *Tx) slot(p place) slot {
	if s, ok := tx.changes[p]; ok {
		return s
	}
	return tx.batch.slot(p)
}

func (tx *Tx) change(p place, s slot) {
	if was := tx.slot(p).set; p.part != "" && was != s.set {
		if tx.grown == nil {
			tx.grown = map[string]int{}
		}
		tx.grown[p.field]--
		if s.set {
			tx.grown[p.field] += 2
		}
	}
	if tx.changes == nil {
		tx.changes = map[place]slot{}
	}
	tx.changes[p] = s
}

func (b *batch) slot(p place) slot {
	if s, ok := b.changes[p]; ok {
		return s
	}
	if p.part != "" && b.w.declared.Fields[p.field].EffectiveKind() == schema.Event {
		return b.openOf(p)
	}
	if p.part != "" {
		return b.table(p.field).slot(p.part)
	}
	raw := b.base.Value(p.field)
	s := slot{raw: raw, set: raw != nil}
	if b.w.declared.Fields[p.field].Dependent() {
		s.seen = b.base.Observed(p.field)
	}
	return s
}

// parted reports whether the places of a field like f have parts.
func parted(f schema.Field) bool {
	return f.EffectiveKind() == schema.Set || f.EffectiveKind() == schema.Map
}
