package reader

import (
	"errors"
	"slices"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// Owners returns the owners of the entry's field, the owner of a map's keys
// first. It returns nil for an unknown field.
func (e Entry) Owners() []string {
	if e.view == nil {
		return nil
	}
	d := e.view.Declaration()
	keys, ok := d.OwnerOf(e.name)
	if !ok {
		return nil
	}
	others := slices.DeleteFunc(d.OwnersOf(e.name), func(owner string) bool { return owner == keys })
	return append([]string{keys}, others...)
}

// ProvenanceOf returns the last change of the part of the field that owner
// has. It returns false if there is none, or if the part cannot be read.
func (e Entry) ProvenanceOf(owner string) (Provenance, bool) {
	d := e.view.Declaration()
	entry := e.view.Field(e.name)
	if keys, _ := d.OwnerOf(e.name); keys == owner {
		return entry.Provenance()
	}
	members := d.Owners[owner].Fields[e.name].MemberNames()
	if len(members) == 0 {
		return Provenance{}, false
	}
	// At every key, a member has the provenance of its owner's part.
	return entry.Key("").Member(members[0]).Provenance()
}

// LastChange returns the provenance of the newest change of the field; of a
// map, by any of its owners, as their clocks tell.
func (e Entry) LastChange() (last Provenance, ok bool) {
	for _, owner := range e.Owners() {
		by, written := e.ProvenanceOf(owner)
		if written && (!ok || by.ChangedAt.After(last.ChangedAt)) {
			last, ok = by, true
		}
	}
	return last, ok
}

// Obstacle returns the owner that keeps the field from being read, and the status
// of the sidecar or claim: [store.Invalid] for a value that does not fit.
func (e Entry) Obstacle() (owner string, status store.Status) {
	owners := e.Owners()
	if f, _ := e.view.Declaration().Joined(e.name); f.EffectiveKind() == schema.Once {
		by, _ := e.view.Field(e.name).Provenance()
		return owners[0], by.Status
	}
	for _, owner := range owners {
		if o, _ := e.view.Owner(owner); o.Err != nil {
			return owner, o.Status
		}
	}
	return owners[0], store.Invalid
}

// IsOwnerError reports whether err repeats the error of an owner whose sidecar
// cannot be used.
func (v *View) IsOwnerError(err error) bool {
	return slices.ContainsFunc(v.owners, func(o *owner) bool { return o.Err != nil && errors.Is(err, o.Err) })
}

// FieldNames returns the names of all declared fields, by owner and then by
// name. A map stands with the owner of its keys.
func (v *View) FieldNames() []string {
	var names []string
	d := v.Declaration()
	for _, owner := range d.OwnerNames() {
		for _, field := range d.Owners[owner].FieldNames() {
			if keys, _ := d.OwnerOf(field); keys == owner {
				names = append(names, field)
			}
		}
	}
	return names
}
