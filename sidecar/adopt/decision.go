package adopt

import (
	"bytes"
	"slices"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/go-json-experiment/json/jsontext"
)

// A source gives access to the values that an owner has stored.
type source interface {
	// field returns a field's value and provenance.
	field(name string) stored
	// entry returns the owner's value at a key of a map, in the key's present
	// incarnation. It returns false if there is no such key.
	entry(name, key string) (raw []byte, ok bool)
	// claimed returns the claimant of a once field, or the zero Claimant.
	claimed(name string) sidecar.Claimant
}

type stored struct {
	raw     []byte
	by      document.Provenance
	written bool
	adopted bool
}

// A decision holds the operations for one part and the report on it.
type decision struct {
	ops    sidecar.Patch
	marks  []string // fields that are adopted from now on
	claims []Item   // once fields to claim, beside the commit
	report OwnerReport
}

func (d *decision) imports(i Item) { d.report.Imported = append(d.report.Imported, i) }

// keeps notes that the state's value stays, or equals the imported one.
func (d *decision) keeps(i Item, raw []byte, by document.Provenance) {
	if bytes.Equal(raw, i.Value) {
		d.report.Same++
		return
	}
	d.report.Kept = append(d.report.Kept, Kept{i, raw, by.Program, by.Version})
}

// idle reports whether there is nothing to commit.
func (d *decision) idle() bool { return len(d.ops)+len(d.marks)+len(d.claims) == 0 }

// decide selects the values of part that the state has never written. A field's
// provenance shows that. Sets and maps do not record removed elements, so they
// are filled up only once, and marked as adopted.
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

// verbs maps a kind to the verb of its first write.
var verbs = map[schema.Kind]schema.Verb{
	schema.Value: schema.VerbSet, schema.Max: schema.VerbRaise, schema.Min: schema.VerbLower, schema.Counter: schema.VerbAdd, schema.Event: schema.VerbDone,
}

func (d *decision) field(f schema.Field, v Value, s stored) {
	op := sidecar.Op{Field: v.Field, Verb: verbs[f.EffectiveKind()], Value: v.JSON}
	d.first(f, op, Item{Pointer: v.Pointer, Field: v.Field, Value: v.JSON}, s, s.written)
}

// first writes a value unless it is taken. A max or min moves on in any case:
// the order of two values does not depend on their writers.
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

// beyond compares v with the old value of a max or min. The result is positive
// if the field would move to v, negative if it would stay, and zero if it is
// unset or of another kind.
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

// once plans the claim of a field, unless it is claimed already.
func (d *decision) once(i Item, by sidecar.Claimant) {
	if by.ID != "" {
		d.loses(i, by)
		return
	}
	d.claims = append(d.claims, i)
	d.imports(i)
}

// loses notes that the field is claimed already.
func (d *decision) loses(i Item, by sidecar.Claimant) {
	at, _ := schema.Time.Append(nil, by.At) // a claim's time always fits
	d.keeps(i, at, document.Provenance{Program: by.Program})
}

// set inserts the missing elements.
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
		d.ops = append(d.ops, sidecar.Op{Field: v.Field, Verb: schema.VerbInsert, Value: element})
	}
	item.Value = schema.JoinElements(absent)
	d.imports(item)
}

// lacking returns the elements of all that are not in have. An invalid set
// yields none here and fails the commit.
func lacking(f schema.Field, all, have []byte) [][]byte {
	elements, _ := f.Elements(all)
	old, _ := f.Elements(have)
	known := make(map[string]bool, len(old))
	for _, o := range old {
		known[string(o)] = true
	}
	return slices.DeleteFunc(elements, func(e []byte) bool { return known[string(e)] })
}

// An entryDecision is the decision about one owner's part of a map.
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
			d.ops = append(d.ops, sidecar.Op{Field: d.v.Field, Key: e.Key, Verb: schema.VerbInsert})
			d.imports(Item{e.Pointer, d.v.Field, e.Key, "", jsontext.Value("{}")})
		default:
			d.members(e, old, at)
		}
	}
	if !d.stored.adopted && (d.stored.written || len(d.ops) > before) {
		d.marks = append(d.marks, d.v.Field)
	}
}

// gone notes that the key was deleted, or created anew, in the state.
func (d *entryDecision) gone(e Entry) {
	d.keeps(Item{e.Pointer, d.v.Field, e.Key, "", e.stored()}, nil, d.stored.by)
}

// members writes the members of an entry that are missing in old.
func (d *entryDecision) members(e Entry, old []byte, at sidecar.Version) {
	for _, m := range e.Members {
		f, _ := d.f.Member(m.Name)
		s := stored{raw: memberOf(old, m.Name), by: d.stored.by}
		op := sidecar.Op{Field: d.v.Field, Key: e.Key, Member: m.Name, At: at, Verb: verbs[f.EffectiveKind()], Value: m.JSON}
		d.first(f, op, Item{m.Pointer, d.v.Field, e.Key, m.Name, m.JSON}, s, s.raw != nil || d.stored.adopted)
	}
}

// memberOf returns a member of a map's entry, or nil.
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
