package reader

import (
	"errors"
	"fmt"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/go-json-experiment/json/jsontext"
)

// Provenance says where a field comes from: who wrote or cleared it last.
type Provenance struct {
	// Owner is the only one who may write the field.
	Owner string
	// File is the absolute path of the owner's sidecar.
	File string
	// Version of the commit that changed the field last.
	Version sidecar.Version
	// ChangedAt is when that commit was made, by its writer's clock.
	ChangedAt time.Time
	// Program that made it.
	Program string
	// PID of that program's process.
	PID int
	// Status of the sidecar.
	Status Status
}

// An Entry is one field of a view, of whatever type. The zero Entry is an
// unknown field.
type Entry struct {
	view *View
	name string
}

// Raw returns the field's JSON as it is stored. It returns an error that wraps
// [ErrUnset] if the field is not set, [ErrUnknownField] if no owner declares
// it, sidecar.ErrInvalid, sidecar.ErrForeign or sidecar.ErrUnreadable if the
// owner's sidecar is that, and sidecar.ErrInvalid, naming the field, if the
// value is not of the declared type.
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

// Provenance returns who wrote or cleared the field last. It returns false if
// nobody did or if that cannot be read; of a declared field, Owner, File and
// Status are there all the same.
func (e Entry) Provenance() (Provenance, bool) {
	_, o, ok := e.find()
	if !ok {
		return Provenance{}, false
	}
	p := Provenance{Owner: o.Name, File: o.File, Status: o.Status}
	if o.doc == nil {
		return p, false
	}
	_, by, _ := o.doc.Field(e.name)
	p.Version, p.ChangedAt, p.Program, p.PID = by.Version, by.At, by.Program, by.PID
	return p, !by.Version.IsZero()
}

// find returns the field's declaration and its owner.
func (e Entry) find() (schema.Field, *owner, bool) {
	if e.view == nil {
		return schema.Field{}, nil, false
	}
	p, ok := e.view.declared.fields[e.name]
	if !ok {
		return schema.Field{}, nil, false
	}
	return p.field, e.view.owners[p.owner], true
}

// stored returns the field's bytes in the view, which must not be changed.
func (e Entry) stored() ([]byte, error) {
	_, o, ok := e.find()
	switch {
	case e.view == nil:
		return nil, fmt.Errorf("field %q: %w: the zero Field and the zero Entry belong to no view", e.name, ErrUnknownField)
	case !ok:
		return nil, fmt.Errorf("field %q: %w: no owner of state %s declares it; `freehold view` lists what is declared", e.name, ErrUnknownField, e.view.State())
	case o.Err != nil:
		return nil, fmt.Errorf("field %s: %w", e.name, o.Err)
	case o.Status == Missing:
		return nil, fmt.Errorf("field %s: %w: owner %s has written nothing yet", e.name, ErrUnset, o.Name)
	}
	raw, by, written := o.doc.Field(e.name)
	switch {
	case raw != nil:
		return raw, nil
	case written:
		return nil, fmt.Errorf("field %s: %w: %s cleared it at %s", e.name, ErrUnset, by.Program, by.At.Format(time.RFC3339Nano))
	}
	return nil, fmt.Errorf("field %s: %w: owner %s has not written it", e.name, ErrUnset, o.Name)
}

// fits says why raw is no value of the field's declared type. The sidecar is
// whole all the same: Freehold wrote it, under a declaration that differs from
// this one, so only this field is not to be had.
func (e Entry) fits(raw []byte) error {
	field, o, _ := e.find()
	if _, err := field.Normalize(raw); err != nil {
		return misfit(e.name, o, err)
	}
	return nil
}

func misfit(field string, o *owner, err error) error {
	return fmt.Errorf("%s: field %s: %w: %w: it was written under another declaration; write it anew, or clear it with `freehold clear %s %s`",
		o.File, field, sidecar.ErrInvalid, err, o.Name, field)
}

// A Field is one field of a view and the type that the program knows it to
// have. Its zero value is an unknown field. It is as safe for concurrent use as
// a [View].
type Field[T any] struct {
	entry Entry
	codec schema.Codec[T]
}

// FieldOf returns the field name of v. It is for generated code.
func FieldOf[T any](v *View, name string, codec schema.Codec[T]) Field[T] {
	return Field[T]{Entry{v, name}, codec}
}

// Get returns the field's value, or the zero T and an error as [Entry.Raw]
// does.
func (f Field[T]) Get() (T, error) {
	var zero T
	raw, err := f.entry.stored()
	if err != nil {
		return zero, err
	}
	value, err := f.codec.Decode(raw)
	if err != nil {
		_, o, _ := f.entry.find()
		return zero, misfit(f.entry.name, o, err)
	}
	return value, nil
}

// OrUnset is [Field.Get], with otherwise for a field that is unset. Every
// other error stays one: a value that cannot be read is not a value that is
// not there.
func (f Field[T]) OrUnset(otherwise T) (T, error) {
	value, err := f.Get()
	if errors.Is(err, ErrUnset) {
		return otherwise, nil
	}
	return value, err
}

// Provenance returns who wrote or cleared the field last; see
// [Entry.Provenance].
func (f Field[T]) Provenance() (Provenance, bool) { return f.entry.Provenance() }
