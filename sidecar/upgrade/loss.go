package upgrade

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/go-json-experiment/json/jsontext"
)

// A Gone is a stored value without a place in the upgraded state. Its sidecar
// is kept, see [Report.Kept]; a claim stays.
type Gone struct {
	// Owner and Field of the value, before the upgrade.
	Owner string `json:"owner"`
	Field string `json:"field"`
	// File is the absolute path of the owner's sidecar or the claim.
	File string `json:"file"`
	// Part of the field's value that goes, as a pointer with * for every key of
	// a map. If empty, the whole value.
	Part string `json:"part,omitzero"`
	// Value as it was stored; nil for a map.
	Value jsontext.Value `json:"value,omitzero"`
	// Keys is the number of keys of a map that had it.
	Keys int `json:"keys,omitzero"`
	// Open is the number of open events.
	Open int `json:"open,omitzero"`
	// Claimed reports whether it is a claimed once field. Value is then the time
	// of the claim, or nil if unreadable.
	Claimed bool `json:"claimed,omitzero"`
	// Successor is the field or member that was this one by its declaration and
	// was set before that said so; or empty.
	Successor string `json:"successor,omitzero"`
	// Observed names a field whose observed version goes, instead of a value.
	Observed string `json:"observed,omitzero"`
	// Declared is the former declaration of the value; zero if none.
	Declared schema.Field `json:"-"`
}

// lose notes a loss from a sidecar.
func (p *plan) lose(g Gone) {
	g.File = p.sidecarPath(g.Owner)
	p.report.Gone = append(p.report.Gone, g)
}

// loseParts notes the parts left out by a conversion of the former field o;
// below is the value's place in it.
func (p *plan) loseParts(o schema.Origin, below jsontext.Pointer, left []schema.LeftOut) {
	for _, l := range left {
		p.lose(Gone{Owner: o.Owner, Field: o.Field, Part: string(below + l.Pointer), Value: l.Value, Successor: l.Successor, Declared: l.Field})
	}
}

// findGone notes the fields without a successor.
func (p *plan) findGone() {
	for _, owner := range p.old.OwnerNames() {
		fields := p.old.Owners[owner].FieldNames()
		if _, stays := p.next.Owners[owner]; !stays { // with the fields of a newer release
			for _, name := range p.stored[owner].Names() {
				if !slices.Contains(fields, name) {
					fields = append(fields, name)
				}
			}
		}
		for _, name := range fields {
			declared := p.old.Owners[owner].Fields[name]
			switch now := p.tables[name]; {
			case declared.Shareable() && now != "":
				p.loseMembers(owner, name, now)
			case p.taken[place{owner, name, ""}]:
			case declared.EffectiveKind() == schema.Once:
				p.loseClaim(owner, name, declared)
			default:
				p.loseField(owner, name, declared)
			}
		}
	}
	slices.SortStableFunc(p.report.Gone, func(a, b Gone) int {
		return cmp.Or(cmp.Compare(a.Owner, b.Owner), cmp.Compare(a.Field, b.Field), cmp.Compare(a.Part, b.Part), cmp.Compare(a.Observed, b.Observed))
	})
}

func (p *plan) loseField(owner, name string, declared schema.Field) {
	doc := p.stored[owner]
	g := Gone{Owner: owner, Field: name, Open: len(doc.Open(name)), Successor: p.late[place{owner, name, ""}], Declared: declared}
	if declared.EffectiveKind() == schema.Map {
		g.Keys = len(p.live(owner, name))
	} else {
		g.Value = doc.Value(name)
	}
	if g.Value != nil || g.Keys+g.Open > 0 {
		p.lose(g)
	}
}

// live returns an owner's rows of a map, without those of a former incarnation
// of their key, which count as deleted.
func (p *plan) live(owner, name string) []document.Row {
	rows, _ := p.stored[owner].Rows(name) // a value that is not a map has none
	decider, _ := p.old.OwnerOf(name)
	if decider == owner {
		return rows
	}
	keys, _ := p.stored[decider].Rows(name)
	born := make(map[string]document.Version, len(keys))
	for _, row := range keys {
		born[row.Key] = row.Born
	}
	return slices.DeleteFunc(rows, func(row document.Row) bool {
		at, ok := born[row.Key]
		return !ok || at != row.Born
	})
}

func (p *plan) loseMembers(owner, name, now string) {
	_, part := p.next.Owners[owner].Fields[now]
	record := p.old.Owners[owner].Fields[name].Record
	keys := map[string]int{}
	var members []string
	for _, row := range p.live(owner, name) {
		object, err := schema.ParseObject(row.Value)
		if err != nil {
			continue // reported as a misfit if taken over
		}
		for _, m := range object {
			if _, declared := record[m.Name]; !declared && part || p.taken[place{owner, name, m.Name}] {
				continue
			}
			if keys[m.Name]++; keys[m.Name] == 1 {
				members = append(members, m.Name)
			}
		}
	}
	for _, member := range members {
		part := jsontext.Pointer("/*").AppendToken(member)
		p.lose(Gone{Owner: owner, Field: name, Part: string(part), Keys: keys[member], Declared: record[member]})
	}
}

func (p *plan) loseClaim(owner, name string, declared schema.Field) {
	once := store.On(p.dir).Once(p.manifest, owner, name)
	g := Gone{Owner: owner, Field: name, File: once.Path, Claimed: true, Declared: declared}
	if once.Status == store.OK {
		g.Value, _ = schema.Time.Append(nil, once.At)
	}
	if once.Status != store.Missing {
		p.report.Gone = append(p.report.Gone, g)
	}
}

// misfits describe the stored values that the new declaration cannot hold, by owner.
type misfits []error

// Error returns one line for each of the first 20 misfits.
func (m misfits) Error() string {
	const most = 20
	if len(m) > most {
		m = append(m[:most:most], fmt.Errorf("%d more", len(m)-most))
	}
	return errors.Join(m...).Error()
}

func (m misfits) Unwrap() error { return sidecar.ErrValue }
