package reader

import (
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/go-json-experiment/json/jsontext"
)

// A joined is a map, or one key of it, as far as it can be read.
type joined struct {
	raw  []byte
	errs map[int]error // by owner, the reason for a missing part
}

// err returns the first reason, by owner.
func (j joined) err() error {
	first := -1
	for owner := range j.errs {
		if first < 0 || owner < first {
			first = owner
		}
	}
	return j.errs[first]
}

// join joins the parts of a map, or of the entry's key. It returns an error if
// there is no map, or no such key.
func (e Entry) join(p place) (joined, error) {
	decider := e.view.owners[p.owner]
	rows, err := e.rows(decider)
	if err != nil {
		return joined{}, err
	}
	j := joiner{entry: e, place: p, errs: map[int]error{}}
	for _, owner := range p.parts {
		if _, err := e.rows(e.view.owners[owner]); err != nil {
			j.errs[owner] = err
		}
	}
	if e.level == ofKey {
		found, err := e.decided(p)
		if err != nil {
			return joined{}, err
		}
		return joined{j.at(found), j.errs}, nil
	}
	if _, err := e.own(decider); err != nil {
		return joined{}, err
	}
	raw := []byte{'{'}
	for _, row := range rows {
		value := j.at(row)
		if value == nil {
			continue
		}
		if len(raw) > 1 {
			raw = append(raw, ',')
		}
		raw, _ = jsontext.AppendQuote(raw, row.Key) // valid UTF-8: it was read
		raw = append(append(raw, ':'), value...)
	}
	return joined{append(raw, '}'), j.errs}, nil
}

// A joiner joins the parts at a key.
type joiner struct {
	entry Entry
	place place
	errs  map[int]error
}

// at returns the joined value at the key of found, or nil if it does not fit.
func (j joiner) at(found store.Row) []byte {
	if value := j.place.field.Value; value != nil {
		if _, err := value.Normalize(found.Value); err != nil {
			j.misfit(j.place.owner, found.Key, "", err)
			return nil
		}
		return found.Value
	}
	all := j.add(nil, j.place.owner, found)
	for _, owner := range j.place.parts {
		if attached, ok := j.entry.view.owners[owner].stored.Row(j.entry.name, found.Key); ok && attached.Born == found.Born {
			all = j.add(all, owner, attached)
		}
	}
	slices.SortStableFunc(all, func(a, b schema.ObjectMember) int { return strings.Compare(a.Name, b.Name) })
	all = slices.CompactFunc(all, func(a, b schema.ObjectMember) bool { return a.Name == b.Name })
	return all.Append(nil)
}

// add adds the members of an owner's row that the owner declares, or that no owner
// does.
func (j joiner) add(all schema.Object, owner int, row store.Row) schema.Object {
	object, err := schema.ParseObject(row.Value)
	if err != nil {
		j.misfit(owner, row.Key, "", err)
		return all
	}
	for _, m := range object {
		decider, declared := j.place.members[m.Name]
		if declared && decider != owner {
			continue
		}
		if declared {
			if _, err := j.place.field.Record[m.Name].Normalize(m.Value); err != nil {
				j.misfit(owner, row.Key, m.Name, err)
				continue
			}
		}
		all = append(all, m)
	}
	return all
}

func (j joiner) misfit(owner int, key, member string, err error) {
	if j.errs[owner] == nil {
		j.errs[owner] = j.entry.Key(key).Member(member).misfit(j.entry.view.owners[owner], err)
	}
}
