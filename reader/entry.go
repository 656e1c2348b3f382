package reader

import (
	"fmt"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/go-json-experiment/json/jsontext"
)

// An Entry is a field of a view, a key of a map, or a member at a key. The zero
// Entry is an unknown field.
type Entry struct {
	view        *View
	name        string
	level       level
	key, member string
}

type level int

const (
	ofField level = iota
	ofKey
	ofMember
)

// Raw returns the field's JSON as it is stored; of a map, the members of all its
// owners, joined by key. It returns an error that wraps [ErrUnset] if the field is
// not set, [ErrUnknownField] if no owner declares it, the [store.Status] of an
// owner without a usable sidecar, and [store.Invalid], naming the field, if
// the value is not of the declared type.
func (e Entry) Raw() (jsontext.Value, error) {
	raw, err := e.stored()
	if err != nil {
		return nil, err
	}
	if err := e.fits(raw); err != nil {
		return nil, err
	}
	return jsontext.Value(raw).Clone(), nil
}

// Provenance returns the commit that wrote or cleared the field last; of a map,
// the last of the owner of the keys, and of a member, the last of its owner in the
// map. It returns false if there is none or the sidecar cannot be read; of a
// declared field, Owner, File and Status are there all the same.
func (e Entry) Provenance() (Provenance, bool) {
	p, o, err := e.find()
	if err != nil {
		return Provenance{}, false
	}
	if p.EffectiveKind() == schema.Once {
		return e.claim().provenance()
	}
	return e.provenance(o)
}

// provenance returns the last change of o's part of the field.
func (e Entry) provenance(o *owner) (Provenance, bool) {
	p := Provenance{Owner: o.Name, File: o.File, Status: o.Status}
	_, by, _ := o.stored.Field(e.name)
	p.Version, p.ChangedAt, p.Program, p.PID = by.Version, by.At, by.Program, by.PID
	if observed := o.stored.Observed(e.name); observed != nil {
		p.Observed = store.SeenOf(e.view.StateID(), observed)
	}
	return p, !by.Version.IsZero()
}

// where names the entry in messages.
func (e Entry) where() string {
	where := "field " + e.name
	if e.level >= ofKey {
		where += fmt.Sprintf(", key %q", e.key)
	}
	if e.member != "" {
		where += ", member " + e.member
	}
	return where
}

// place returns the place of the entry's field.
func (e Entry) place() (place, error) {
	if e.view == nil {
		return place{}, fmt.Errorf("field %q: %w: the zero Field and the zero Entry belong to no view: take one from a View", e.name, ErrUnknownField)
	}
	p, ok := e.view.declared.fields[e.name]
	if !ok {
		return place{}, fmt.Errorf("field %q: %w: no owner of state %s declares it; read a declared field", e.name, ErrUnknownField, e.view.State())
	}
	return p, nil
}

// Declared returns the declaration of the entry; for a map the members of all
// owners together. It returns an error that wraps [ErrUnknownField] if no owner
// declares the entry.
func (e Entry) Declared() (schema.Field, error) {
	f, _, err := e.find()
	return f, err
}

// find returns the declaration and the owner of the entry.
func (e Entry) find() (schema.Field, *owner, error) {
	p, err := e.place()
	if err != nil {
		return schema.Field{}, nil, err
	}
	o := e.view.owners[p.owner]
	switch {
	case e.level == ofField:
		return p.field, o, nil
	case p.field.EffectiveKind() != schema.Map:
		return schema.Field{}, nil, fmt.Errorf("%s: %w: it is no map and has no keys: read it without one", e.where(), ErrUnknownField)
	case p.field.Value != nil && e.member == "":
		return *p.field.Value, o, nil
	case e.level == ofKey:
		return schema.Field{Type: schema.TypeRecord, Fields: p.field.Record}, o, nil
	}
	spec, ok := p.field.Record[e.member]
	if !ok {
		remedy := "leave the member out"
		if names := p.field.MemberNames(); len(names) > 0 {
			remedy = schema.DidYouMean(e.member, "its members are", names)
		}
		return schema.Field{}, nil, fmt.Errorf("%s: %w: no owner of state %s declares the member; %s", e.where(), ErrUnknownField, e.view.State(), remedy)
	}
	return spec, e.view.owners[p.members[e.member]], nil
}

// stored returns the entry's bytes, which must not be changed.
func (e Entry) stored() ([]byte, error) {
	_, o, err := e.find()
	if err != nil {
		return nil, err
	}
	p, _ := e.place()
	switch {
	case p.field.EffectiveKind() == schema.Once:
		return e.claim().stored(e.where())
	case p.field.EffectiveKind() != schema.Map:
		return e.own(o)
	case e.level == ofMember:
		return e.atKey(p, o)
	}
	joined, err := e.join(p)
	if err != nil {
		return nil, err
	}
	return joined.raw, joined.err()
}

// own returns the bytes of the field in the sidecar of its owner.
func (e Entry) own(o *owner) ([]byte, error) {
	if o.Err != nil {
		return nil, fmt.Errorf("%s: %w", e.where(), o.Err)
	}
	if raw := o.stored.Value(e.name); raw != nil {
		return raw, nil
	}
	_, by, written := o.stored.Field(e.name)
	spec, _, _ := e.find()
	switch {
	case spec.EffectiveKind() == schema.Event:
		return nil, fmt.Errorf("%s: %w: the event was never done", e.where(), ErrUnset)
	case written:
		return nil, fmt.Errorf("%s: %w: %s cleared it at %s", e.where(), ErrUnset, by.Program, by.At.Format(time.RFC3339Nano))
	}
	return nil, fmt.Errorf("%s: %w: owner %s has not written it", e.where(), ErrUnset, o.Name)
}

// fits returns an error if raw is no value of the entry's declared type. Freehold
// wrote it under another declaration, so the other fields of the owner are right.
func (e Entry) fits(raw []byte) error {
	spec, o, err := e.find()
	if err != nil {
		return err
	}
	if _, err := spec.Normalize(raw); err != nil {
		return e.misfit(o, err)
	}
	return nil
}

// misfit returns the error of a value of o that does not fit its declaration.
func (e Entry) misfit(o *owner, err error) error {
	remedy := store.By("quarantine", o.Name).Or("to keep the other fields, take the value out of the file and accept it")
	if p, _ := e.place(); p.field.EffectiveKind() == schema.Value {
		remedy = store.By("clear", o.Name, e.name).Or("write it anew")
	}
	return &store.Error{
		Status: store.Invalid, Path: o.File, Owner: o.Name, Field: e.name, Remedy: remedy,
		Err: fmt.Errorf("%s: %w: it was written under another declaration", e.where(), err),
	}
}

// undecoded returns the error of a codec for a stored value. A value that fits
// the view's declaration was written by a program that was built later.
func (e Entry) undecoded(raw []byte, err error) error {
	spec, o, _ := e.find()
	if _, misfit := spec.Normalize(raw); misfit != nil {
		return e.misfit(o, err)
	}
	return &store.Error{
		Status: store.BadDeclaration, Path: o.File, Owner: o.Name, Field: e.name, Remedy: store.Remedy{Note: "build this program from the present owners.yaml"},
		Err: fmt.Errorf("%s: %w: this program is older than the state", e.where(), err),
	}
}
