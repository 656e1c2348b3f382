package schema

import (
	"fmt"
	"slices"
	"strings"
)

// The differences between two declarations, the values of [Change.What].
const (
	added    = "added"
	removed  = "removed"
	renamed  = "renamed"    // From the old name
	moved    = "moved"      // From the old owner
	retyped  = "retyped"    // another type or kind
	newKeys  = "keys"       // another owner decides the keys of a map
	newMode  = "mode"       // From one, To another
	newBusy  = "busy"       // likewise
	newLevel = "durability" // likewise
	newHome  = "home"       // likewise
	newNeeds = "depends_on" // likewise, names with commas, or nothing
)

// A Change is one difference between a state's declaration and a changed one.
type Change struct {
	// Kind of the difference: added, removed, renamed, moved, retyped,
	// keys, mode, busy, durability, home or depends_on.
	What string `json:"change"`
	// Owner in the changed declaration, or the former owner of a removed part.
	Owner string `json:"owner"`
	// Field of that owner; empty if the change is the owner's own.
	Field string `json:"field,omitempty"`
	// Part of the field, as [Declaration.Parts] names it; empty for all of it.
	Part string `json:"part,omitempty"`
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
}

// String returns the change as a line for people.
func (c Change) String() string {
	what := "owner " + c.Owner
	if c.Field != "" {
		what += ", field " + c.Field + c.Part
	}
	switch c.What {
	case added, removed:
		return fmt.Sprintf("%s: %s", what, c.What)
	case renamed:
		return fmt.Sprintf("%s: renamed, was %s", what, c.From)
	case moved:
		return fmt.Sprintf("%s: moved from owner %s", what, c.From)
	case retyped:
		return fmt.Sprintf("%s: was %s, becomes %s", what, c.From, c.To)
	case newKeys:
		return fmt.Sprintf("%s: decides the keys, as owner %s did", what, c.From)
	}
	return fmt.Sprintf("%s: %s was %s, becomes %s", what, c.What, c.From, c.To)
}

// Changes returns the differences of next from d, by owner and field. Words for
// people, units, and names in Go and in legacy files are no differences.
func (d *Declaration) Changes(next *Declaration) []Change {
	return d.Compare(next, func(_, _ Change, _, _ Field) {})
}

// Compare is [Declaration.Changes]. It calls pair with each field, member and
// element of next that has a predecessor in d, whether the two differ or not. Of at
// and was, the places in next and in d, only owner, field and part are set.
func (d *Declaration) Compare(next *Declaration, pair func(at, was Change, now, old Field)) []Change {
	c := comparison{old: d.places(), next: next.places(), pair: pair,
		used: map[Origin]bool{}, columned: map[string]bool{}, columns: map[Origin]map[string]bool{}}
	for _, owner := range next.OwnerNames() {
		c.owner(owner)
	}
	c.addRemoved()
	return c.changes
}

// A comparison gathers changes.
type comparison struct {
	old, next *places
	pair      func(at, was Change, now, old Field)
	changes   []Change
	used      map[Origin]bool            // the fields of old that have a successor
	columned  map[string]bool            // the maps of old that were compared member by member
	columns   map[Origin]map[string]bool // of those maps, the members that have a successor
}

func (c *comparison) add(ch Change) { c.changes = append(c.changes, ch) }

func (c *comparison) owner(name string) {
	old, known := c.old.Owners[name]
	now := c.next.Owners[name]
	if !known {
		c.add(Change{What: added, Owner: name})
	} else {
		for _, rule := range []struct {
			what     string
			from, to string
		}{
			{newMode, string(old.EffectiveMode()), string(now.EffectiveMode())},
			{newBusy, old.busy(), now.busy()},
			{newLevel, string(old.EffectiveDurability()), string(now.EffectiveDurability())},
			{newHome, old.Home, now.Home},
		} {
			if rule.from != rule.to {
				c.add(Change{What: rule.what, Owner: name, From: rule.from, To: rule.to})
			}
		}
	}
	for _, field := range now.FieldNames() {
		c.field(name, field)
	}
}

func (o Owner) busy() string {
	return fmt.Sprintf("%s, then %s", o.EffectiveWait(), or(o.Busy.Then, Fail))
}

func (c *comparison) field(owner, name string) {
	f := c.next.Owners[owner].Fields[name]
	o, ok := c.old.origin(owner, c.next.former(name, f.Was, c.next.ownerOf), c.old.ownerOf)
	if !ok {
		c.add(Change{What: added, Owner: owner, Field: name})
		return
	}
	c.used[o], c.used[Origin{owner, name}] = true, true
	old := c.old.Owners[o.Owner].Fields[o.Field]
	shared := f.Shareable() && old.Shareable()
	c.columned[o.Field] = c.columned[o.Field] || f.Shareable()
	if o.Field != name {
		c.add(Change{What: renamed, Owner: owner, Field: name, From: o.Field})
	}
	if o.Owner != owner && !shared {
		c.add(Change{What: moved, Owner: owner, Field: name, From: o.Owner})
	}
	if shared {
		c.pair(Change{Owner: owner, Field: name}, Change{Owner: o.Owner, Field: o.Field}, f, old)
		c.table(owner, name, o.Field)
		return
	}
	if from, to := old.needs(), f.needs(); from != to {
		c.add(Change{What: newNeeds, Owner: owner, Field: name, From: from, To: to})
	}
	c.part(Change{Owner: owner, Field: name}, Change{Owner: o.Owner, Field: o.Field}, old, f)
}

// needs names the fields that f depends on. The order says nothing.
func (f Field) needs() string {
	if !f.Dependent() {
		return "nothing"
	}
	return strings.Join(slices.Sorted(slices.Values(f.DependsOn)), ", ")
}

// table compares owner's part of a map, which was called there.
func (c *comparison) table(owner, name, there string) {
	for _, former := range c.old.owners[there] {
		c.used[Origin{former, there}] = true
	}
	decider, _ := c.old.ownerOf(there)
	if now, _ := c.next.ownerOf(name); now == owner && now != decider {
		c.add(Change{What: newKeys, Owner: owner, Field: name, From: decider})
	}
	declares := func(member string) bool {
		_, ok := c.next.memberOwner(name, member, c.next.owners[name])
		return ok
	}
	for _, member := range c.next.Owners[owner].Fields[name].MemberNames() {
		at := Change{Owner: owner, Field: name, Part: "/" + member}
		was := c.next.Owners[owner].Fields[name].Record[member].Was
		o, ok := c.old.memberOrigin(there, formerMember(member, was, declares), c.old.owners[there])
		if !ok {
			at.What = added
			c.add(at)
			continue
		}
		whole := Origin{o.Owner, there}
		if c.columns[whole] == nil {
			c.columns[whole] = map[string]bool{}
		}
		c.columns[whole][o.Field] = true
		if own := (Origin{owner, there}); c.columns[own] != nil {
			c.columns[own][member] = true
		}
		if o.Field != member {
			c.add(Change{What: renamed, Owner: owner, Field: name, Part: at.Part, From: o.Field})
		}
		if o.Owner != owner {
			c.add(Change{What: moved, Owner: owner, Field: name, Part: at.Part, From: o.Owner})
		}
		c.part(at, Change{Owner: o.Owner, Field: there, Part: "/" + o.Field}, c.old.Owners[o.Owner].Fields[there].Record[o.Field], c.next.Owners[owner].Fields[name].Record[member])
	}
}

// part compares a value or a part of one, which was elsewhere before.
func (c *comparison) part(at, was Change, old, now Field) {
	c.pair(at, was, now, old)
	if from, to := old.describe(), now.describe(); from != to {
		at.What, at.From, at.To = retyped, from, to
		c.add(at)
		return
	}
	c.values(at, added, missingFrom(old.Values, now.Values))
	c.values(at, removed, missingFrom(now.Values, old.Values))
	for _, pair := range [][2]*Field{{old.Of, now.Of}, {old.Value, now.Value}} {
		if pair[0] != nil && pair[1] != nil {
			below, former := at, was
			below.Part, former.Part = below.Part+"/*", former.Part+"/*"
			c.part(below, former, *pair[0], *pair[1])
		}
	}
	c.members(at, was, old.Fields, now.Fields)
}

func (c *comparison) values(at Change, what string, values []string) {
	for _, v := range values {
		c.add(Change{What: what, Owner: at.Owner, Field: at.Field, Part: at.Part + "=" + v})
	}
}

func (c *comparison) members(at, was Change, old, now map[string]Field) {
	used := map[string]bool{}
	declares := func(name string) bool { _, ok := now[name]; return ok }
	for _, name := range (Field{Fields: now}).MemberNames() {
		below := at
		below.Part += "/" + name
		former := slices.DeleteFunc(formerMember(name, now[name].Was, declares), func(name string) bool { _, ok := old[name]; return !ok })
		if len(former) == 0 {
			below.What = added
			c.add(below)
			continue
		}
		for _, f := range former {
			used[f] = true
		}
		if former[0] != name {
			c.add(Change{What: renamed, Owner: at.Owner, Field: at.Field, Part: below.Part, From: former[0]})
		}
		there := was
		there.Part += "/" + former[0]
		c.part(below, there, old[former[0]], now[name])
	}
	for _, name := range (Field{Fields: old}).MemberNames() {
		if !used[name] {
			c.add(Change{What: removed, Owner: at.Owner, Field: at.Field, Part: at.Part + "/" + name})
		}
	}
}

// addRemoved adds the owners, fields and members without a successor.
func (c *comparison) addRemoved() {
	for _, owner := range c.old.OwnerNames() {
		for _, field := range c.old.Owners[owner].FieldNames() {
			o := Origin{owner, field}
			if !c.used[o] {
				c.add(Change{What: removed, Owner: owner, Field: field})
				continue
			}
			f := c.old.Owners[owner].Fields[field]
			if !f.Shareable() || !c.columned[field] {
				continue
			}
			for _, member := range f.MemberNames() {
				if !c.columns[o][member] {
					c.add(Change{What: removed, Owner: owner, Field: field, Part: "/" + member})
				}
			}
		}
		if _, ok := c.next.Owners[owner]; !ok {
			c.add(Change{What: removed, Owner: owner})
		}
	}
	slices.SortStableFunc(c.changes, func(a, b Change) int { return strings.Compare(a.Owner, b.Owner) })
}
