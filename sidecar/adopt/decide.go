package adopt

import (
	"bytes"
	"slices"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/document"
	"github.com/go-json-experiment/json/jsontext"
)

// A source shows what an owner has stored.
type source interface {
	// field returns a field's value, if it has one; who wrote or cleared it,
	// if anybody did; and whether a legacy file was folded into it before.
	field(name string) stored
	// entry returns what the owner has at a key of a map, if it has the key,
	// in its present incarnation.
	entry(name, key string) (raw []byte, ok bool)
	// claimed returns who has claimed a once field; the zero Claimant means
	// nobody.
	claimed(name string) sidecar.Claimant
}

type stored struct {
	raw     []byte
	by      document.Provenance
	written bool
	adopted bool
}

// A decision is what to commit for one part, and what to say about it.
type decision struct {
	ops    sidecar.Patch
	marks  []string // the fields that are adopted from now on
	claims []Item   // once fields to claim, beside the commit
	report OwnerReport
}

func (d *decision) imports(i Item) { d.report.Imported = append(d.report.Imported, i) }

// keeps notes that the state's value stays, or that the state has it already.
func (d *decision) keeps(i Item, raw []byte, by document.Provenance) {
	if bytes.Equal(raw, i.Value) {
		d.report.Same++
		return
	}
	d.report.Kept = append(d.report.Kept, Kept{i, raw, by.Program, by.Version})
}

// idle reports whether there is nothing to commit.
func (d *decision) idle() bool { return len(d.ops)+len(d.marks)+len(d.claims) == 0 }

// decide takes from part what the state has never written, which of a field it
// tells by who wrote or cleared it last. Sets and maps do not remember what was
// taken out of them: they are filled up once, and marked.
func (p *Plan) decide(part Part, have source, keys *keyring) *decision {
	d := &decision{report: OwnerReport{Owner: part.Owner}}
	for _, v := range part.Values {
		f := p.declared.Owners[part.Owner].Fields[v.Field]
		if f.EffectiveKind() == schema.Once {
			d.once(Item{Pointer: v.Pointer, Field: v.Field, Value: v.JSON}, have.claimed(v.Field))
			continue
		}
		s := have.field(v.Field)
		switch f.EffectiveKind() {
		case schema.Map:
			e := entryDecision{decision: d, f: f, v: v, have: have, stored: s, keys: keys.of(v.Field)}
			e.decide()
		case schema.Set:
			d.set(f, v, s)
		default:
			d.field(f, v, s)
		}
	}
	return d
}

// verbs give a value its first content.
var verbs = map[schema.Kind]sidecar.Verb{
	schema.Value: sidecar.VerbSet, schema.Max: sidecar.VerbRaise, schema.Min: sidecar.VerbLower, schema.Counter: sidecar.VerbAdd, schema.Event: sidecar.VerbDone,
}

func (d *decision) field(f schema.Field, v Value, s stored) {
	op := sidecar.Op{Field: v.Field, Verb: verbs[f.EffectiveKind()], Value: v.JSON}
	d.first(f, op, Item{Pointer: v.Pointer, Field: v.Field, Value: v.JSON}, s, s.written)
}

// first gives a value its first content, unless it is taken. What only moves
// one way moves on all the same: which of two instants is the later one does
// not depend on who wrote it.
func (d *decision) first(f schema.Field, op sidecar.Op, i Item, s stored, taken bool) {
	switch moved := beyond(f, i.Value, s.raw); {
	case !taken, moved > 0:
		d.ops = append(d.ops, op)
		d.imports(i)
	case moved < 0:
		d.report.Same++
	default:
		d.keeps(i, s.raw, s.by)
	}
}

// beyond reports whether a max or a min would move from old to v: positive if
// it would, negative if it is there or further already, and zero if it is unset
// or is no max or min.
func beyond(f schema.Field, v, old []byte) int {
	kind := f.EffectiveKind()
	if old == nil || kind != schema.Max && kind != schema.Min {
		return 0
	}
	order, err := f.Compare(v, old)
	switch {
	case err != nil: // an old value of another type, which fails the commit
		return 0
	case kind == schema.Max && order > 0, kind == schema.Min && order < 0:
		return 1
	}
	return -1
}

// once takes a stamp for the claim of a field, unless there is one.
func (d *decision) once(i Item, by sidecar.Claimant) {
	if by.ID != "" {
		d.loses(i, by)
		return
	}
	d.claims = append(d.claims, i)
	d.imports(i)
}

// loses notes that somebody has claimed the field.
func (d *decision) loses(i Item, by sidecar.Claimant) {
	at, _ := schema.Time{}.Append(nil, by.At) // it was read
	d.keeps(i, at, document.Provenance{Program: by.Program})
}

// set takes the elements that are missing.
func (d *decision) set(f schema.Field, v Value, s stored) {
	item := Item{Pointer: v.Pointer, Field: v.Field, Value: v.JSON}
	if s.adopted {
		d.keeps(item, s.raw, s.by)
		return
	}
	d.marks = append(d.marks, v.Field)
	absent := lacking(f, v.JSON, s.raw)
	if len(absent) == 0 {
		d.report.Same++
		return
	}
	for _, element := range absent {
		d.ops = append(d.ops, sidecar.Op{Field: v.Field, Verb: sidecar.VerbInsert, Value: element})
	}
	item.Value = schema.JoinElements(absent)
	d.imports(item)
}

// lacking returns the elements of the set all that have lacks. What cannot be
// taken apart fails the commit.
func lacking(f schema.Field, all, have []byte) [][]byte {
	elements, _ := f.Elements(all)
	old, _ := f.Elements(have)
	known := make(map[string]bool, len(old))
	for _, o := range old {
		known[string(o)] = true
	}
	return slices.DeleteFunc(elements, func(e []byte) bool { return known[string(e)] })
}

// An entryDecision decides about one owner's part of a map.
type entryDecision struct {
	*decision
	f      schema.Field
	v      Value
	have   source
	stored stored
	keys   *keysOfMap // nil for the owner that decides the keys
}

func (d *entryDecision) decide() {
	before := len(d.ops)
	for _, e := range d.v.Entries {
		old, ok := d.have.entry(d.v.Field, e.Key)
		at, attached := d.keys.at(e.Key)
		switch {
		case d.keys != nil && !attached, d.stored.adopted && !ok:
			d.gone(e)
		case !ok && len(e.Members) == 0:
			d.ops = append(d.ops, sidecar.Op{Field: d.v.Field, Key: e.Key, Verb: sidecar.VerbInsert})
			d.imports(Item{e.Pointer, d.v.Field, e.Key, "", jsontext.Value("{}")})
		default:
			d.members(e, old, at)
		}
	}
	if !d.stored.adopted && (d.stored.written || len(d.ops) > before) {
		d.marks = append(d.marks, d.v.Field)
	}
}

// gone notes that the state has the key no longer, or that it is another one.
func (d *entryDecision) gone(e Entry) {
	d.keeps(Item{e.Pointer, d.v.Field, e.Key, "", e.stored()}, nil, d.stored.by)
}

// members takes the members of an entry that are missing in old.
func (d *entryDecision) members(e Entry, old []byte, at sidecar.Version) {
	for _, m := range e.Members {
		f, _ := d.f.Member(m.Name)
		s := stored{raw: memberOf(old, m.Name), by: d.stored.by}
		op := sidecar.Op{Field: d.v.Field, Key: e.Key, Member: m.Name, At: at, Verb: verbs[f.EffectiveKind()], Value: m.JSON}
		d.first(f, op, Item{m.Pointer, d.v.Field, e.Key, m.Name, m.JSON}, s, s.raw != nil || d.stored.adopted)
	}
}

// memberOf returns a member of what a map has at a key, or nil.
func memberOf(entry []byte, name string) []byte {
	if name == "" || entry == nil {
		return entry
	}
	o, err := schema.ParseObject(entry)
	if err != nil {
		return nil
	}
	raw, _ := o.Value(name)
	return raw
}
