package adopt

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/go-json-experiment/json/jsontext"
)

// A Plan maps each value of a legacy file to its field. Every value fits.
type Plan struct {
	// Parts of the owners, in the order of their commits.
	Parts []Part
	// Unset are the places without a value, in file order.
	Unset []Unset
	// Unowned are the undeclared keys, in file order. They stay in the legacy
	// file.
	Unowned []Unowned

	legacy   *Legacy
	declared *schema.Declaration
}

// A Part holds the values for one owner.
type Part struct {
	Owner  string
	Values []Value
}

// A Value is the value of one field.
type Value struct {
	Field   string
	Pointer jsontext.Pointer
	// JSON as the sidecar stores it; nil for a map.
	JSON jsontext.Value
	// Entries of a map, in file order.
	Entries []Entry
}

// An Entry is one owner's share of a map at one key.
type Entry struct {
	Key     string
	Pointer jsontext.Pointer
	// Members of the owner there, in file order. In a map without a record there
	// is one, with an empty name.
	Members []Member
}

// A Member is one member of a map's entry.
type Member struct {
	Name    string
	Pointer jsontext.Pointer
	JSON    jsontext.Value
}

// Plan finds the field in d, and the stored form, of every value in l. Null,
// and an instant of the year 1, mean that a field is unset. If values do not
// fit, the error is [Misfits] with all of them.
func (l *Legacy) Plan(d *schema.Declaration) (*Plan, error) {
	p := &planner{converter: converter{file: l.Name()}, d: d, parts: map[string]*Part{}}
	fields := map[string]schema.Field{}
	for _, name := range d.OwnerNames() {
		for field := range d.Owners[name].Fields {
			fields[field] = p.joined(field)
		}
	}
	k := keysOf(fields)
	for name, m := range p.owned(k, spot{"", "the file"}, l.object) {
		p.field(name, fields[name], m)
	}
	if k.rest != "" {
		p.whole(k, fields[k.rest], l.object)
		p.sort(l.object)
	}
	p.bound()
	if len(p.misfits) > 0 {
		return nil, p.misfits
	}
	return &Plan{p.order(), p.unset, p.unowned, l, d}, nil
}

// A planner collects the parts of a plan.
type planner struct {
	converter
	d     *schema.Declaration
	parts map[string]*Part // by owner
}

// joined returns field as all its owners together declare it.
func (p *planner) joined(field string) schema.Field {
	f, _ := p.d.Joined(field)
	for _, owner := range p.d.OwnersOf(field) {
		if f.Legacy == "" {
			f.Legacy = p.d.Owners[owner].Fields[field].Legacy
		}
	}
	return f
}

// field plans the key m of the file for the field name.
func (p *planner) field(name string, f schema.Field, m schema.ObjectMember) {
	owner, _ := p.d.OwnerOf(name)
	at := spot{jsontext.Pointer("").AppendToken(m.Name), fmt.Sprintf("field %s of %s", name, owner)}
	if f.EffectiveKind() == schema.Map {
		p.mapping(name, f, at, m.Value)
		return
	}
	if value, ok := p.value(f, at, m.Value); ok {
		p.give(owner, Value{Field: name, Pointer: at.at, JSON: value})
	}
}

// whole plans the keys of the file that belong to the map f.
func (p *planner) whole(k *keys, f schema.Field, file schema.Object) {
	rest := slices.DeleteFunc(slices.Clone(file), func(m schema.ObjectMember) bool { return k.names[m.Name] != "" })
	owner, _ := p.d.OwnerOf(k.rest)
	p.entries(k.rest, f, spot{"", fmt.Sprintf("field %s of %s", k.rest, owner)}, rest)
}

// sort sorts the findings by the file's keys.
func (p *planner) sort(file schema.Object) {
	place := map[string]int{}
	for i, m := range file {
		place[string(jsontext.Pointer("").AppendToken(m.Name))] = i
	}
	first := func(at jsontext.Pointer) int {
		key, _, _ := strings.Cut(strings.TrimPrefix(string(at), "/"), "/")
		return place["/"+key]
	}
	slices.SortStableFunc(p.misfits, func(a, b Misfit) int { return first(a.Pointer) - first(b.Pointer) })
	slices.SortStableFunc(p.unset, func(a, b Unset) int { return first(a.Pointer) - first(b.Pointer) })
	slices.SortStableFunc(p.unowned, func(a, b Unowned) int { return first(a.Pointer) - first(b.Pointer) })
}

// mapping plans the map at a spot.
func (p *planner) mapping(name string, f schema.Field, at spot, raw []byte) {
	if jsontext.Value(raw).Kind() == jsontext.KindNull {
		p.noValue(at, raw)
		return
	}
	o, err := schema.ParseObject(raw)
	switch {
	case err != nil:
		p.misfit(at, err)
	case len(o) == 0: // an empty map is not stored
		p.noValue(at, raw)
	default:
		p.entries(name, f, at, o)
	}
}

// entries plans each key of the map name.
func (p *planner) entries(name string, f schema.Field, at spot, o schema.Object) {
	owners := p.owners(name)
	values := map[string]*Value{} // by owner
	for owner := range maps.Values(owners) {
		values[owner] = &Value{Field: name, Pointer: at.at}
	}
	columns := keysOf(f.Record)
	for _, m := range o {
		where := spot{at.at.AppendToken(m.Name), "field " + name}
		if err := schema.CheckKey(m.Name); err != nil {
			p.misfit(where, err)
			continue
		}
		if jsontext.Value(m.Value).Kind() == jsontext.KindNull && (f.Value == nil || f.Value.Type != schema.TypeJSON) {
			p.noValue(where, m.Value)
			continue
		}
		for owner, members := range p.members(f, columns, owners, where, m.Value) {
			values[owner].Entries = append(values[owner].Entries, Entry{m.Name, where.at, members})
		}
	}
	if len(o) > schema.MaxKeys {
		p.misfit(at, fmt.Errorf("%d keys are more than the %d allowed", len(o), schema.MaxKeys))
	}
	for owner, v := range values {
		if len(v.Entries) > 0 {
			p.give(owner, *v)
		}
	}
}

// owners returns the owner of each member of the map name. The empty member
// stands for the keys.
func (p *planner) owners(name string) map[string]string {
	owners := map[string]string{}
	owners[""], _ = p.d.OwnerOf(name)
	for _, owner := range p.d.OwnersOf(name) {
		for member := range p.d.Owners[owner].Fields[name].Record {
			owners[member] = owner
		}
	}
	return owners
}

// members plans the entry at one key, by owner. The owner of the keys is always
// included, since an entry needs its key.
func (p *planner) members(f schema.Field, columns *keys, owners map[string]string, at spot, raw []byte) map[string][]Member {
	keeper := owners[""]
	if f.Value != nil {
		value, ok := p.value(*f.Value, at, raw)
		if !ok {
			return nil
		}
		return map[string][]Member{keeper: {{"", at.at, value}}}
	}
	o, err := schema.ParseObject(raw)
	if err != nil {
		p.misfit(at, err)
		return nil
	}
	parts := map[string][]Member{keeper: nil}
	for name, m := range p.owned(columns, at, o) {
		where := at.member(m.Name, name)
		if value, ok := p.value(f.Record[name], where, m.Value); ok {
			parts[owners[name]] = append(parts[owners[name]], Member{name, where.at, value})
		}
	}
	return parts
}

func (p *planner) give(owner string, v Value) {
	if p.parts[owner] == nil {
		p.parts[owner] = &Part{Owner: owner}
	}
	p.parts[owner].Values = append(p.parts[owner].Values, v)
}

// bound reports parts that exceed a sidecar, before any owner is written.
func (p *planner) bound() {
	for _, owner := range slices.Sorted(maps.Keys(p.parts)) {
		by := document.Provenance{Version: document.Version{Epoch: 1 << 52, Revision: 1, Nonce: "0000000000000"}, At: time.Unix(0, 1), Program: "adopt"}
		doc := document.New(owner, "adopt")
		for _, v := range p.parts[owner].Values {
			if v.JSON != nil {
				doc.Set(v.Field, v.JSON, by)
			} else {
				doc.SetRows(v.Field, v.rows(by.Version), by)
			}
		}
		doc.Commit(by.Version, by.At, document.Writer{})
		if _, err := doc.Encode(); err != nil {
			p.complain("", "the fields of owner %s do not fit into one sidecar: %v: divide them among more owners", owner, err)
		}
	}
}

// rows returns the entries as rows of a map that was empty.
func (v Value) rows(born document.Version) []document.Row {
	rows := make([]document.Row, len(v.Entries))
	for i, e := range v.Entries {
		rows[i] = document.Row{Key: e.Key, Value: e.stored(), Born: born}
	}
	slices.SortFunc(rows, func(a, b document.Row) int { return strings.Compare(a.Key, b.Key) })
	return rows
}

// stored returns e as a map stores it at a new key.
func (e Entry) stored() []byte {
	var o schema.Object
	for _, m := range e.Members {
		if m.Name == "" {
			return m.JSON
		}
		o = o.With(m.Name, m.JSON)
	}
	return o.Append(nil)
}
