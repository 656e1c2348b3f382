package upgrade

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/document"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/go-json-experiment/json/jsontext"
)

// A Gone is something that is stored and that the upgraded state shows no more.
// The sidecar that had it is kept, see [Report.Kept], and a claim stays.
type Gone struct {
	// Owner and Field of which it was, before the upgrade.
	Owner string `json:"owner"`
	Field string `json:"field"`
	// File is the absolute path of the file that has it: the owner's sidecar,
	// or the claim.
	File string `json:"file"`
	// Part of the field's value that goes, as a pointer from there, with * for
	// every key of a map. If empty, all of it does.
	Part string `json:"part,omitzero"`
	// Value as it was stored. Nil of a map, or if no value goes.
	Value jsontext.Value `json:"value,omitzero"`
	// Keys is how many keys of a map had it.
	Keys int `json:"keys,omitzero"`
	// Open is how many events had begun and were not done.
	Open int `json:"open,omitzero"`
	// Claimed reports whether it is a once field that somebody has claimed.
	// Value is when, or nil if that cannot be read.
	Claimed bool `json:"claimed,omitzero"`
	// Observed is the name of a field: what its writer had seen of that goes,
	// and not the value.
	Observed string `json:"observed,omitzero"`
	// Declared is what the value was declared as; zero if it was not.
	Declared schema.Field `json:"-"`
}

// lose notes what goes.
func (p *plan) lose(g Gone) {
	g.File = p.sidecarPath(g.Owner)
	if g.Claimed {
		g.File = filepath.Join(p.dir.Path(), filepath.FromSlash(store.ClaimFile(g.Owner, g.Field)))
	}
	p.gone = append(p.gone, g)
}

// loseParts notes what converting a value of what was o leaves out; below is
// where that value is in it.
func (p *plan) loseParts(o schema.Origin, below jsontext.Pointer, left []schema.LeftOut) {
	for _, l := range left {
		p.lose(Gone{Owner: o.Owner, Field: o.Field, Part: string(below + l.Pointer), Value: l.Value, Declared: l.Field})
	}
}

// fate says what of the fields before is taken over.
type fate struct {
	kept    map[schema.Origin]bool
	tables  map[string]string                 // the maps of which parts are, and what they are called then
	members map[string]map[schema.Origin]bool // of those, which members of whose records
}

func (p *plan) fate() fate {
	f := fate{map[schema.Origin]bool{}, map[string]string{}, map[string]map[schema.Origin]bool{}}
	for _, owner := range p.run.next.OwnerNames() {
		for _, name := range p.run.next.Owners[owner].FieldNames() {
			o, ok := p.old.Origin(p.run.next, owner, name)
			if !ok {
				continue
			}
			f.kept[o] = true
			now := p.run.next.Owners[owner].Fields[name]
			if !now.Shareable() || !p.old.Owners[o.Owner].Fields[o.Field].Shareable() {
				continue
			}
			f.tables[o.Field] = name
			if f.members[o.Field] == nil {
				f.members[o.Field] = map[schema.Origin]bool{}
			}
			for _, member := range now.MemberNames() {
				if from, ok := p.old.MemberOrigin(p.run.next, o.Field, name, member); ok {
					f.members[o.Field][from] = true
				}
			}
		}
	}
	return f
}

// findGone notes what goes as a whole: what has no successor.
func (p *plan) findGone() {
	f := p.fate()
	for _, owner := range p.old.OwnerNames() {
		fields := p.old.Owners[owner].FieldNames()
		if _, stays := p.run.next.Owners[owner]; !stays { // what a newer release has put there goes too
			for _, name := range p.stored[owner].Names() {
				if !slices.Contains(fields, name) {
					fields = append(fields, name)
				}
			}
		}
		for _, name := range fields {
			declared := p.old.Owners[owner].Fields[name]
			switch _, table := f.tables[name]; {
			case declared.Shareable() && table:
				p.loseMembers(owner, name, f)
			case f.kept[schema.Origin{Owner: owner, Field: name}]:
			case declared.EffectiveKind() == schema.Once:
				p.loseClaim(owner, name, declared)
			default:
				p.loseField(owner, name, declared)
			}
		}
	}
	slices.SortStableFunc(p.gone, func(a, b Gone) int {
		return cmp.Or(cmp.Compare(a.Owner, b.Owner), cmp.Compare(a.Field, b.Field), cmp.Compare(a.Part, b.Part), cmp.Compare(a.Observed, b.Observed))
	})
}

func (p *plan) loseField(owner, name string, declared schema.Field) {
	doc := p.stored[owner]
	g := Gone{Owner: owner, Field: name, Open: len(doc.Open(name)), Declared: declared}
	if declared.EffectiveKind() == schema.Map {
		g.Keys = len(p.live(owner, name))
	} else {
		g.Value = doc.Value(name)
	}
	if g.Value != nil || g.Keys+g.Open > 0 {
		p.lose(g)
	}
}

// live returns an owner's rows of a map, without those of other incarnations
// than the key has: they are as good as deleted.
func (p *plan) live(owner, name string) []document.Row {
	rows, _ := p.stored[owner].Rows(name) // what is no map has none
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

// loseMembers notes which members of an owner's records in a map go.
func (p *plan) loseMembers(owner, name string, f fate) {
	_, part := p.run.next.Owners[owner].Fields[f.tables[name]]
	record := p.old.Owners[owner].Fields[name].Record
	keys := map[string]int{}
	var members []string
	for _, row := range p.live(owner, name) {
		object, err := schema.ParseObject(row.Value)
		if err != nil {
			continue // a misfit, if it is to be taken over
		}
		for _, m := range object {
			if _, declared := record[m.Name]; !declared && part || f.members[name][schema.Origin{Owner: owner, Field: m.Name}] {
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

// loseClaim notes that a once field goes that somebody has claimed.
func (p *plan) loseClaim(owner, name string, declared schema.Field) {
	g := Gone{Owner: owner, Field: name, Claimed: true, Declared: declared}
	raw, err := p.dir.Claim(owner, name, p.manifest.Claims[owner]).Read(nil)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err == nil {
		claim, err := document.DecodeClaim(raw)
		if err == nil && claim.Belongs(owner, name, p.manifest.StateID) == nil {
			g.Value, _ = schema.Time{}.Append(nil, claim.At)
		}
	}
	p.lose(g)
}
