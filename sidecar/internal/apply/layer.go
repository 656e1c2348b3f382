package apply

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/freehold-dev/freehold/sidecar/internal/status"
	"github.com/go-json-experiment/json/jsontext"
)

// Rules are the declarations by which operations of one owner are applied.
type Rules struct {
	Declaration *schema.Declaration // of the manifest
	StateID     string
	Owner       string
	// Known is the owner as the program was built; of a view, as in Declaration.
	Known schema.Owner
}

// Field returns the declaration of the owner's field name.
func (r *Rules) Field(name string) (schema.Field, error) {
	f, err := r.Declaration.FieldOf(r.Owner, name)
	if err == nil {
		return f, nil
	}
	return schema.Field{}, fmt.Errorf("field %s: %w", name, refused(err))
}

// refused wraps the error of a write that the declaration does not allow.
func refused(err error) error {
	refusal, ok := errors.AsType[*schema.Refusal](err)
	switch {
	case ok && refusal.By == refusal.Owner:
		return Invalid(err)
	case ok && refusal.By == "":
		return fmt.Errorf("%w: %w; add it to owners.yaml", status.NotOwner, err)
	}
	return fmt.Errorf("%w: %w; let its owner do it", status.NotOwner, err)
}

// known returns the program's declaration of the field name, which the manifest
// declares as f. It is the older one if a newer build has opened the state.
func (r *Rules) known(name string, f schema.Field) schema.Field {
	if known, ok := r.Known.Fields[name]; ok {
		return known
	}
	return f
}

// KeysOwner returns the owner of the keys of the map field, and whether that is
// the owner of the rules.
func (r *Rules) KeysOwner(field string) (owner string, own bool) {
	owner, _ = r.Declaration.OwnerOf(field)
	return owner, owner == r.Owner
}

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

// observe returns the content of a field after op, which made it now: the value
// with op's token. Without a token, the old one goes with a value that op wrote
// and stays with one that op left alone.
func (r *Rules) observe(f schema.Field, op Op, now slot) (slot, error) {
	if op.Seen.IsZero() {
		return now, nil
	}
	if !f.Dependent() {
		return slot{}, Invalid(fmt.Errorf("it depends on nothing: leave out what was seen"))
	}
	if op.Verb == VerbClear {
		return slot{}, Invalid(fmt.Errorf("clear takes nothing that was seen"))
	}
	if state := op.Seen.state(); state != r.StateID {
		return slot{}, fmt.Errorf("%w: the token is of the state with the id %.40q, this one is %q: take one of this state", status.NotObserved, state, r.StateID)
	}
	seen, err := op.Seen.of(r.known(op.Field, f).DependsOn)
	if err != nil {
		return slot{}, err
	}
	if op.Verb == VerbRaise || op.Verb == VerbLower {
		// A value beyond op's keeps the observation of its own writer.
		if operand, err := f.Normalize(op.Value); err != nil || !bytes.Equal(operand, now.raw) {
			return now, nil
		}
	}
	now.seen = seen
	return now, nil
}

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
	for _, p := range slices.SortedFunc(maps.Keys(upper.changes), l.order) {
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
	parts := map[string]map[string]slot{}
	for p, s := range l.changes {
		if parts[p.field] == nil {
			parts[p.field] = map[string]slot{}
		}
		if p.part != "" {
			parts[p.field][p.part] = s
		}
	}
	for _, field := range slices.Sorted(maps.Keys(parts)) { // one commit looks like the next
		by, ok := l.by[field]
		if !ok {
			by = own
		}
		s, ok := l.changes[place{field: field}]
		switch {
		case !ok:
		case s.set:
			doc.Set(field, s.raw, by)
			doc.Observe(field, s.seen)
		default:
			doc.Clear(field, by)
		}
		if len(parts[field]) > 0 {
			l.writeParts(doc, field, parts[field], by, gone)
		}
	}
}

func (l *Layer) writeParts(doc *document.Document, field string, changes map[string]slot, by document.Provenance, gone func(string, document.Row) bool) {
	kind := l.kind(field)
	if kind == schema.Event {
		for _, token := range slices.Sorted(maps.Keys(changes)) {
			if changes[token].set {
				doc.Begin(field, token, by)
			} else {
				doc.End(field, token)
			}
		}
		return
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

// Put makes raw the value of a field, nil to clear it, by no operation: for the
// adoption of an edit by another hand.
func (l *Layer) Put(field string, raw []byte) {
	l.change(place{field: field}, slot{raw: raw, set: raw != nil})
}

// PutRow makes row the content of a map at its key, as Put does.
func (l *Layer) PutRow(field string, row document.Row) {
	l.change(place{field, row.Key}, slot{raw: row.Value, set: true, born: row.Born})
}
