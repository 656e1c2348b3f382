package schema

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// ErrDeclaration is returned when a program's declaration and a state
// directory's manifest contradict each other.
var ErrDeclaration = errors.New("the declaration contradicts the state's manifest")

// Merge returns the declaration under which a program that was built from
// built and a directory whose manifest says d work together: everything that
// either declares, down to the values of an enum and the members of a record.
// The second result reports whether that is more than d. Parts missing from
// built are no contradiction, for an older build knows less. Merge returns an
// error that wraps [ErrDeclaration] and lists every contradiction if an owner
// or a field differs.
func (d *Declaration) Merge(built *Declaration) (*Declaration, bool, error) {
	same := *built
	same.Module = d.Module
	if reflect.DeepEqual(d, &same) { // of a program that is no older and no newer, as most are
		return d, false, nil
	}
	merged := &Declaration{State: d.State, Package: d.Package, Instances: d.Instances, Owners: maps.Clone(d.Owners)}
	if merged.Owners == nil {
		merged.Owners = map[string]Owner{}
	}
	var clashes []string
	if d.State != built.State {
		clashes = append(clashes, fmt.Sprintf("the state is %s there and %s here", d.State, built.State))
	}
	if d.Instances != built.Instances {
		clashes = append(clashes, fmt.Sprintf("the state has %s there and %s here", d.Instances, built.Instances))
	}
	more := false
	there, here := d.places(), built.places()
	for _, name := range built.OwnerNames() {
		o := built.Owners[name]
		clashes = append(clashes, there.moved(name, here)...)
		old, ok := d.Owners[name]
		if !ok {
			merged.Owners[name], more = o, true
			continue
		}
		union, added, differs := old.merge(name, o)
		clashes = append(clashes, differs...)
		merged.Owners[name], more = union, more || added
	}
	if len(clashes) == 0 {
		union := merged.checker(merged.OwnerNames())
		union.union()
		for _, p := range union.problems {
			clashes = append(clashes, p.String())
		}
	}
	if len(clashes) > 0 {
		return nil, false, fmt.Errorf("%w: %s", ErrDeclaration, strings.Join(clashes, "; "))
	}
	return merged, more, nil
}

// places are the fields of a declaration by their names.
type places struct {
	*Declaration
	owners     map[string][]string // of each field, as [Declaration.index] has them
	successors map[string]string   // of each former name, the first in order
}

func (d *Declaration) places() *places {
	p := &places{d, d.index(), map[string]string{}}
	for _, owner := range d.OwnerNames() {
		for _, name := range d.Owners[owner].FieldNames() {
			if was := d.Owners[owner].Fields[name].Was; was != "" && p.successors[was] == "" {
				p.successors[was] = name
			}
		}
	}
	return p
}

// ownerOf is [Declaration.OwnerOf].
func (p *places) ownerOf(field string) (string, bool) { return p.keysOwner(field, p.owners[field]) }

func (p *places) declares(field string) bool { return len(p.owners[field]) > 0 }

// moved lists the fields that belong to owner in built and to another one in p.
// Those that are maps of several owners there may get one more here, as long
// as the same one decides the keys.
func (p *places) moved(owner string, built *places) (clashes []string) {
	for _, field := range built.Owners[owner].FieldNames() {
		if was := built.Owners[owner].Fields[field].Was; p.declares(was) && !built.declares(was) {
			clashes = append(clashes, fmt.Sprintf("field %s is still called %s there", field, was))
			continue
		}
		there, ok := p.ownerOf(field)
		here, _ := built.ownerOf(field)
		if next := p.successors[field]; !ok && next != "" && !built.declares(next) {
			clashes = append(clashes, fmt.Sprintf("field %s is called %s there", field, next))
		}
		if !ok || there == owner {
			continue
		}
		old, f := p.Owners[there].Fields[field], built.Owners[owner].Fields[field]
		switch {
		case !old.Shareable() || !f.Shareable():
			clashes = append(clashes, fmt.Sprintf("field %s belongs to owner %s there and to %s here", field, there, owner))
		case here == owner:
			clashes = append(clashes, fmt.Sprintf("owner %s decides the keys of map %s there and owner %s here", there, field, here))
		}
	}
	return clashes
}

// successor returns the field or member that was the given one, or "".
func successor(fields map[string]Field, former string) string {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if fields[name].Was == former {
			return name
		}
	}
	return ""
}

func (o Owner) merge(name string, built Owner) (union Owner, added bool, clashes []string) {
	if o.EffectiveMode() != built.EffectiveMode() {
		clashes = append(clashes, fmt.Sprintf("owner %s is %s there and %s here", name, o.EffectiveMode(), built.EffectiveMode()))
	}
	if o.EffectiveDurability() != built.EffectiveDurability() {
		clashes = append(clashes, fmt.Sprintf("owner %s has durability %s there and %s here", name, o.EffectiveDurability(), built.EffectiveDurability()))
	}
	union = o
	m := merger{}
	union.Fields = m.fields(ofOwner, o.Fields, built.Fields)
	if built.Defers() && !o.Defers() {
		// An older build goes on failing, and folds the pending patches of others.
		union.Busy.Then, m.added = Defer, true
	}
	return union, m.added, append(clashes, m.clashes...)
}

// A merger merges fields and collects their contradictions.
type merger struct {
	added   bool
	clashes []string
}

// ofOwner names an owner's own field in a message. Where such a field was before
// is for moved to say: it may have been another owner's.
const ofOwner = "field "

// fields merges the fields of two owners or the members of two records. kind,
// followed by a name, names each in a message.
func (m *merger) fields(kind string, there, here map[string]Field) map[string]Field {
	if len(there)+len(here) == 0 {
		return there
	}
	union := maps.Clone(there)
	if union == nil {
		union = map[string]Field{}
	}
	for _, name := range slices.Sorted(maps.Keys(here)) {
		was := here[name].Was
		_, called := there[was]
		if _, stays := here[was]; called && !stays && kind != ofOwner {
			m.clashes = append(m.clashes, fmt.Sprintf("%s%s is still called %s there", kind, name, was))
		}
		old, ok := there[name]
		if !ok {
			if kind != ofOwner {
				m.renamed(kind+name, successor(there, name), here)
			}
			union[name], m.added = here[name], true
			continue
		}
		union[name] = m.field(kind+name, old, here[name])
	}
	return union
}

// renamed notes that the field or member is called next there, if here has no
// such one.
func (m *merger) renamed(name, next string, here map[string]Field) {
	if _, known := here[next]; next != "" && !known {
		m.clashes = append(m.clashes, fmt.Sprintf("%s is called %s there", name, next))
	}
}

func (m *merger) field(what string, there, here Field) Field {
	if there.Type != here.Type || there.EffectiveKind() != here.EffectiveKind() || (there.Value == nil) != (here.Value == nil) {
		m.clashes = append(m.clashes, fmt.Sprintf("%s is %s there and %s here", what, there.describe(), here.describe()))
		return there
	}
	if values := missingFrom(there.Values, here.Values); len(values) > 0 {
		there.Values, m.added = append(slices.Clone(there.Values), values...), true
	}
	there.Of = m.part("the elements of "+what, there.Of, here.Of)
	there.Value = m.part("the value of "+what, there.Value, here.Value)
	there.Fields = m.fields(what+", member ", there.Fields, here.Fields)
	there.Record = m.fields(what+", member ", there.Record, here.Record)
	there.Keys = there.Keys || here.Keys
	if more := missingFrom(there.DependsOn, here.DependsOn); len(more) > 0 {
		there.DependsOn, m.added = append(slices.Clone(there.DependsOn), more...), true
	}
	return there
}

func (m *merger) part(what string, there, here *Field) *Field {
	if there == nil || here == nil {
		return there
	}
	union := m.field(what, *there, *here)
	return &union
}

// describe names the kind of field f in words.
func (f Field) describe() string {
	switch {
	case f.EffectiveKind() == Map && f.Value != nil:
		return "a map of values"
	case f.EffectiveKind() == Map:
		return "a map of records"
	case f.EffectiveKind() == Event:
		return fmt.Sprintf("an event of type %s", f.Type)
	}
	return fmt.Sprintf("a %s of type %s", f.EffectiveKind(), f.Type)
}

// missingFrom returns the words of here that there lacks: the new values of an
// enum, the new dependencies of a field.
func missingFrom(there, here []string) []string {
	var fresh []string
	for _, word := range here {
		if !slices.Contains(there, word) {
			fresh = append(fresh, word)
		}
	}
	return fresh
}
