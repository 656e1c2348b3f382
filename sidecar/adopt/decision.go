package adopt

import (
	"bytes"
	"errors"
	"slices"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// A decision holds the operations for one part and the report on it.
type decision struct {
	state  *store.Owner // with its pending patches
	ops    sidecar.Patch
	marks  []string // fields that are adopted from now on
	claims []Item   // once fields to claim, beside the commit
	report OwnerReport
}

// decide selects the values of a part that the state has never written. Sets and
// maps do not record removed elements, so they are filled up only once, and marked
// as adopted.
func (a *application) decide(part part, keys map[string]*keeper) (*decision, error) {
	o := a.store.Folded(a.manifest, part.owner)
	if o.Err != nil {
		return nil, o.Err
	}
	d := &decision{state: o, report: OwnerReport{Owner: part.owner, Version: o.Version}}
	for _, v := range part.values {
		f := a.plan.declared.Owners[part.owner].Fields[v.Field]
		switch f.EffectiveKind() {
		case schema.Once:
			_, by, err := sidecar.ResolveClaim(a.dir.Path(), part.owner, v.Field, "")
			switch {
			case err != nil && !errors.Is(err, store.NotOwner): // a field that is new to the state
				return nil, err
			case by.ID != "":
				d.loses(v.Item, by)
			default:
				d.claims = append(d.claims, v.Item)
				d.imports(v.Item)
			}
		case schema.Map:
			d.entries(f, v, keys[v.Field])
		case schema.Set:
			d.set(f, v.Item)
		default:
			raw, _, written := o.Field(v.Field)
			d.first(f, v.Item, sidecar.Version{}, raw, written)
		}
	}
	if d.idle() {
		d.report.Outcome = sidecar.Unchanged
	}
	return d, nil
}

// idle reports whether there is nothing to commit.
func (d *decision) idle() bool { return len(d.ops)+len(d.marks)+len(d.claims) == 0 }

func (d *decision) imports(i Item) { d.report.Imported = append(d.report.Imported, i) }

// keeps notes that the state's value stays, or equals the imported one.
func (d *decision) keeps(i Item, raw []byte) {
	if bytes.Equal(raw, i.Value) {
		d.report.Same++
		return
	}
	if i.Program == "" { // else it is a claim's
		_, by, _ := d.state.Field(i.Field)
		i.Program, i.Version = by.Program, by.Version
	}
	i.State = raw
	d.report.Kept = append(d.report.Kept, i)
}

func (d *decision) adopted(field string) bool { return !d.state.View().Adopted(field).IsZero() }

// verbs maps a kind to the verb of its first write.
var verbs = map[schema.Kind]schema.Verb{
	schema.Value: schema.VerbSet, schema.Max: schema.VerbRaise, schema.Min: schema.VerbLower, schema.Counter: schema.VerbAdd, schema.Event: schema.VerbDone,
}

// first writes a value unless it is taken; raw is the state's value. A max or min
// moves on in any case: the order of two values does not depend on their writers.
func (d *decision) first(f schema.Field, i Item, at sidecar.Version, raw []byte, taken bool) {
	switch moved := beyond(f, i.Value, raw); {
	case !taken, moved > 0:
		d.ops = append(d.ops, sidecar.Op{Field: i.Field, Key: i.Key, Member: i.Member, At: at, Verb: verbs[f.EffectiveKind()], Value: i.Value})
		d.imports(i)
	case moved < 0:
		d.report.Same++
	default:
		d.keeps(i, raw)
	}
}

// beyond is positive if a max or min would move from old to v, negative if it
// would stay, and zero if it is unset or of another kind.
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

// loses notes that the field is claimed already.
func (d *decision) loses(i Item, by sidecar.Claimant) {
	at, _ := schema.Time.Append(nil, by.At) // a claim's time always fits
	i.Program = by.Program
	d.keeps(i, at)
}

// set inserts the missing elements. An invalid set in the state fails the commit.
func (d *decision) set(f schema.Field, i Item) {
	raw := d.state.Value(i.Field)
	if d.adopted(i.Field) {
		d.keeps(i, raw)
		return
	}
	d.marks = append(d.marks, i.Field)
	elements, _ := f.Elements(i.Value)
	old, _ := f.Elements(raw)
	known := make(map[string]bool, len(old))
	for _, o := range old {
		known[string(o)] = true
	}
	absent := slices.DeleteFunc(elements, func(e []byte) bool { return known[string(e)] })
	if len(absent) == 0 {
		d.report.Same++
		return
	}
	for _, element := range absent {
		d.ops = append(d.ops, sidecar.Op{Field: i.Field, Verb: schema.VerbInsert, Value: element})
	}
	i.Value = schema.JoinElements(absent)
	d.imports(i)
}

// entries writes the missing keys and members of one owner's part of a map.
// keys is nil for the owner that decides the keys.
func (d *decision) entries(f schema.Field, v value, keys *keeper) {
	before := len(d.ops)
	adopted := d.adopted(v.Field)
	_, _, written := d.state.Field(v.Field)
	for _, e := range v.entries {
		row, ok := d.state.Row(v.Field, e.Key) // an invalid map fails the commit
		attached := true
		var at sidecar.Version
		if keys != nil {
			at, attached = keys.at(e.Key)
			ok = ok && row.Born == at
		}
		switch {
		case !attached, adopted && !ok: // the key was deleted, or created anew
			d.keeps(e.Item, nil)
			continue
		case !ok && len(e.members) == 0:
			d.ops = append(d.ops, sidecar.Op{Field: v.Field, Key: e.Key, Verb: schema.VerbInsert})
			d.imports(e.Item)
		}
		for _, m := range e.members {
			var raw []byte
			if ok {
				raw = memberOf(row.Value, m.Member)
			}
			member, _ := f.Member(m.Member)
			d.first(member, m, at, raw, raw != nil || adopted)
		}
	}
	if !adopted && (written || len(d.ops) > before) {
		d.marks = append(d.marks, v.Field)
	}
}

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
