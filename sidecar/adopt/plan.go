package adopt

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/go-json-experiment/json/jsontext"
)

// A Plan maps each value of a legacy file to its field. Every value fits.
type Plan struct {
	// Unset are the places without a value, in file order.
	Unset []Place
	// Unowned are the undeclared keys, in file order. They stay in the legacy
	// file.
	Unowned []Place

	parts    []part // in the order of their commits
	legacy   *Legacy
	declared *schema.Declaration
}

// A Place is a place in a legacy file from which nothing is imported.
type Place struct {
	Pointer jsontext.Pointer `json:"pointer"`
	// Marker is the text of an unset field: null, an empty set or map, or an
	// instant of the year 1.
	Marker jsontext.Value `json:"marker,omitzero"`
	// Like is a declared key that differs only in case, or empty.
	Like string `json:"like,omitzero"`
	// Field is the declared field or member of which the key is another spelling.
	Field string `json:"field,omitzero"`
	// Why [Infer] proposes no field, in words that follow "since"; or empty.
	Why string `json:"-"`
}

// An Item is one value of the legacy file and its destination.
type Item struct {
	Pointer jsontext.Pointer `json:"pointer"`
	Field   string           `json:"field"`
	// Key of a map, and Member of the record at that key.
	Key    string         `json:"key,omitzero"`
	Member string         `json:"member,omitzero"`
	Value  jsontext.Value `json:"value"`
	// State is the state's value if the Item gave way; nil if it was cleared.
	State jsontext.Value `json:"state,omitzero"`
	// Program wrote or cleared that value, in Version.
	Program string          `json:"program,omitzero"`
	Version sidecar.Version `json:"version,omitzero"`
}

// A part holds the values for one owner.
type part struct {
	owner  string
	values []value
}

// A value is the value of one field. Of a map it has only the entries.
type value struct {
	Item
	entries []entry
}

// An entry is one owner's share of a map at one key: its value is that of a new
// key. A map without a record has one member, with an empty name.
type entry struct {
	Item
	members []Item
}

// Misfits are all values of a legacy file that their fields cannot hold, in file
// order. As an error the list is never empty.
type Misfits []misfit

// A misfit is one value.
type misfit struct {
	// File is the legacy file's name.
	File string
	// Pointer to the value in the file.
	Pointer jsontext.Pointer
	// Problem and its cure.
	Problem string
}

// Error returns "FILE#POINTER: problem and cure".
func (m misfit) Error() string {
	return fmt.Sprintf("%s#%s: %s", shown(m.File), shown(m.Pointer), m.Problem)
}

// Error returns one line for each misfit.
func (m Misfits) Error() string {
	lines := make([]string, len(m))
	for i, misfit := range m {
		lines[i] = misfit.Error()
	}
	return strings.Join(lines, "\n")
}

// shown returns text with its unprintable characters escaped.
func shown[T ~string](text T) string {
	if strings.IndexFunc(string(text), func(r rune) bool { return !unicode.IsPrint(r) }) < 0 {
		return string(text)
	}
	quoted := strconv.Quote(string(text))
	return quoted[1 : len(quoted)-1]
}

// Plan finds the field in d, and the stored form, of every value in l. Null,
// and an instant of the year 1, mean that a field is unset. If values do not
// fit, the error is [Misfits] with all of them.
func (l *Legacy) Plan(d *schema.Declaration) (*Plan, error) {
	p := &planner{converter: converter{file: l.name()}, d: d, values: map[string][]value{}, begun: map[string]bool{}}
	fields := map[string]schema.Field{}
	for _, name := range d.OwnerNames() {
		for field := range d.Owners[name].Fields {
			fields[field] = p.joined(field)
		}
	}
	k := keysOf(fields)
	var rest *mapping
	if k.rest != "" {
		rest = p.mapping(k.rest, fields[k.rest], spot{"", p.label(k.rest)})
	}
	for name, m := range p.owned(k, spot{"", "the file"}, l.object) {
		if name == k.rest {
			rest.add(m)
		} else {
			p.field(name, fields[name], m)
		}
	}
	if rest != nil {
		rest.end()
	}
	p.bound()
	if len(p.misfits) > 0 {
		return nil, p.misfits
	}
	for _, owner := range slices.Sorted(maps.Keys(p.values)) {
		p.place(owner)
	}
	return &Plan{p.unset, p.unowned, p.parts, l, d}, nil
}

// A planner collects the values of a plan, by owner, and then its parts.
type planner struct {
	converter
	d      *schema.Declaration
	values map[string][]value
	begun  map[string]bool // owners
	parts  []part
}

func (p *planner) joined(field string) schema.Field {
	f, _ := p.d.Joined(field)
	for _, owner := range p.d.OwnersOf(field) {
		if f.Legacy == "" {
			f.Legacy = p.d.Owners[owner].Fields[field].Legacy
		}
	}
	return f
}

func (p *planner) label(field string) string {
	owner, _ := p.d.OwnerOf(field)
	return fmt.Sprintf("field %s of %s", field, owner)
}

func (p *planner) field(name string, f schema.Field, m schema.ObjectMember) {
	at := spot{jsontext.Pointer("").AppendToken(m.Name), p.label(name)}
	if f.EffectiveKind() != schema.Map {
		if raw, ok := p.value(f, at, m.Value); ok {
			owner, _ := p.d.OwnerOf(name)
			p.values[owner] = append(p.values[owner], value{Item: Item{Pointer: at.at, Field: name, Value: raw}})
		}
		return
	}
	o, err := schema.ParseObject(m.Value)
	switch {
	case jsontext.Value(m.Value).Kind() == jsontext.KindNull, err == nil && len(o) == 0: // an empty map is not stored
		p.noValue(at, m.Value)
	case err != nil:
		p.misfit(at, err)
	default:
		t := p.mapping(name, f, at)
		for _, m := range o {
			t.add(m)
		}
		t.end()
	}
}

// A mapping is a map in the making.
type mapping struct {
	*planner
	name    string
	f       schema.Field
	at      spot
	columns *keys
	owners  map[string]string  // by member; the empty member stands for the keys
	shares  map[string][]entry // by owner
	keys    int
}

func (p *planner) mapping(name string, f schema.Field, at spot) *mapping {
	m := &mapping{planner: p, name: name, f: f, at: at, columns: keysOf(f.Record), owners: map[string]string{}, shares: map[string][]entry{}}
	m.owners[""], _ = p.d.OwnerOf(name)
	for _, owner := range p.d.OwnersOf(name) {
		for member := range p.d.Owners[owner].Fields[name].Record {
			m.owners[member] = owner
		}
	}
	return m
}

func (m *mapping) add(key schema.ObjectMember) {
	m.keys++
	at := spot{m.at.at.AppendToken(key.Name), "field " + m.name}
	null := jsontext.Value(key.Value).Kind() == jsontext.KindNull
	switch err := schema.CheckKey(key.Name); {
	case err != nil:
		m.misfit(at, err)
		return
	case null && (m.f.Value == nil || m.f.Value.Type != schema.TypeJSON):
		m.noValue(at, key.Value)
		return
	}
	for owner, members := range m.members(at, key) {
		var o schema.Object
		for _, member := range members {
			o = o.With(member.Member, member.Value)
		}
		whole := o.Append(nil)
		if m.f.Value != nil {
			whole = members[0].Value
		}
		m.shares[owner] = append(m.shares[owner], entry{Item{Pointer: at.at, Field: m.name, Key: key.Name, Value: whole}, members})
	}
}

// members returns the members at one key, by owner. The owner of the keys is
// always included, since an entry needs its key.
func (m *mapping) members(at spot, key schema.ObjectMember) map[string][]Item {
	keeper := m.owners[""]
	if m.f.Value != nil {
		raw, ok := m.value(*m.f.Value, at, key.Value)
		if !ok {
			return nil
		}
		return map[string][]Item{keeper: {{Pointer: at.at, Field: m.name, Key: key.Name, Value: raw}}}
	}
	o, err := schema.ParseObject(key.Value)
	if err != nil {
		m.misfit(at, err)
		return nil
	}
	shares := map[string][]Item{keeper: nil}
	for name, member := range m.owned(m.columns, at, o) {
		where := at.member(member.Name, name)
		if raw, ok := m.value(m.f.Record[name], where, member.Value); ok {
			owner := m.owners[name]
			shares[owner] = append(shares[owner], Item{Pointer: where.at, Field: m.name, Key: key.Name, Member: name, Value: raw})
		}
	}
	return shares
}

// end adds the entries to the values of their owners.
func (m *mapping) end() {
	if m.keys > schema.MaxKeys {
		m.misfit(m.at, fmt.Errorf("%d keys are more than the %d allowed", m.keys, schema.MaxKeys))
	}
	for owner, entries := range m.shares {
		m.planner.values[owner] = append(m.planner.values[owner], value{Item{Pointer: m.at.at, Field: m.name}, entries})
	}
}

// bound reports owners with values that exceed a sidecar, before any is written.
func (p *planner) bound() {
	by := document.Provenance{Version: document.Version{Epoch: 1 << 52, Revision: 1, Nonce: "0000000000000"}, At: time.Unix(0, 1), Program: "adopt"}
	for _, owner := range slices.Sorted(maps.Keys(p.values)) {
		doc := document.New(owner, "adopt")
		for _, v := range p.values[owner] {
			if v.entries == nil {
				doc.Set(v.Field, v.Value, by)
				continue
			}
			rows := make([]document.Row, len(v.entries))
			for i, e := range v.entries {
				rows[i] = document.Row{Key: e.Key, Value: e.Value, Born: by.Version}
			}
			slices.SortFunc(rows, func(a, b document.Row) int { return strings.Compare(a.Key, b.Key) })
			doc.SetRows(v.Field, rows, by)
		}
		doc.Commit(by.Version, by.At, document.Writer{})
		if _, err := doc.Encode(); err != nil {
			p.complain("", "the fields of owner %s do not fit into one sidecar: %v: divide them among more owners", owner, err)
		}
	}
}

// place adds the part of owner to the plan, after the parts with the keys that
// the owner needs. Where two owners decide keys for each other, one of them gets
// two parts: its own keys come first.
func (p *planner) place(owner string) {
	var own, foreign []value
	for _, v := range p.values[owner] {
		if keeper, _ := p.d.OwnerOf(v.Field); keeper == owner {
			own = append(own, v)
		} else {
			foreign = append(foreign, v)
		}
	}
	ready := own
	if p.begun[owner] { // the caller needs only its keys
		p.values[owner] = foreign
	} else {
		p.begun[owner] = true
		for _, v := range foreign {
			keeper, _ := p.d.OwnerOf(v.Field)
			p.place(keeper)
		}
		ready, p.values[owner] = p.values[owner], nil
	}
	if len(ready) > 0 {
		p.parts = append(p.parts, part{owner, ready})
	}
}
