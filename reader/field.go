package reader

import (
	"errors"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/go-json-experiment/json/jsontext"
)

// Provenance is the commit that wrote or cleared a field last.
type Provenance struct {
	// Owner of the field.
	Owner string `json:"owner"`
	// File is the absolute path of the sidecar; of a once field, of the claim.
	File string `json:"file"`
	// Version of the commit; of a pending patch, the patch's id and nothing else,
	// see [store.Version.IsPending]; of a claim, zero.
	Version store.Version `json:"version,omitzero"`
	// Claim is the id of a once field's claim; else empty.
	Claim string `json:"claim,omitzero"`
	// ChangedAt is the time of the commit or claim, by its writer's clock.
	ChangedAt time.Time `json:"changed_at,omitzero"`
	// Program that made it.
	Program string `json:"program,omitzero"`
	// PID of that program's process.
	PID int `json:"pid,omitzero"`
	// Status of that file.
	Status store.Status `json:"status"`
	// Observed are the versions of the dependencies that the writer had seen.
	// It is zero if the writer did not say.
	Observed store.Seen `json:"observed,omitzero"`
}

// A Field is a field of a view with its Go type. Its zero value is an unknown
// field. It is as safe for concurrent use as a [View].
type Field[T any] struct {
	entry Entry
	codec schema.Codec[T]
}

// FieldOf returns the field name of v. It is for generated code.
func FieldOf[T any](v *View, name string, codec schema.Codec[T]) Field[T] {
	return Field[T]{v.Field(name), codec}
}

// FieldIn returns a member at a key of a map. It is for generated code.
func FieldIn[T any](e Entry, member string, codec schema.Codec[T]) Field[T] {
	return Field[T]{e.Member(member), codec}
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
		return zero, f.entry.undecoded(raw, err)
	}
	return value, nil
}

// Raw returns the field's JSON as [Entry.Raw] does, also a value that only a later
// build of the program knows, such as the new name of an enum.
func (f Field[T]) Raw() (jsontext.Value, error) { return f.entry.Raw() }

// OrUnset is [Field.Get], with otherwise for a field that is unset. Every other
// error stays an error.
func (f Field[T]) OrUnset(otherwise T) (T, error) {
	value, err := f.Get()
	if errors.Is(err, ErrUnset) {
		return otherwise, nil
	}
	return value, err
}

// Provenance returns the last change of the field; see [Entry.Provenance].
func (f Field[T]) Provenance() (Provenance, bool) { return f.entry.Provenance() }

// Freshness says whether the value is up to date; see [Entry.Freshness].
func (f Field[T]) Freshness() Freshness { return f.entry.Freshness() }

// An Opening is an event that has begun and is neither done nor abandoned. It may
// have had its effect or not.
type Opening struct {
	// Token ends it.
	Token store.EventToken `json:"token"`
	// Version of the commit that began it.
	Version store.Version `json:"version"`
	// BegunAt is the time of that commit, by its writer's clock.
	BegunAt time.Time `json:"begun_at"`
	// Program that made it.
	Program string `json:"program"`
	// PID of that program's process.
	PID int `json:"pid"`
}

// Open returns the openings of an event, in their order; none of a field of
// another kind, or of an owner without a usable sidecar.
func (e Entry) Open() []Opening {
	_, o, err := e.find()
	if err != nil || e.level != ofField {
		return nil
	}
	var open []Opening
	for _, begun := range o.stored.Open(e.name) {
		open = append(open, Opening{
			store.TokenOf(e.view.StateID(), e.name, begun.Token), begun.Version, begun.At, begun.Program, begun.PID,
		})
	}
	return open
}

// Open returns the openings of an event; see [Entry.Open].
func (f Field[T]) Open() []Opening { return f.entry.Open() }

// open prints the openings of an event.
func (w *printer) open(e Entry) {
	open := e.Open()
	if open == nil {
		return
	}
	w.array("open", func() {
		for _, o := range open {
			w.object(func() {
				w.text("token", o.Token.String())
				w.version(o.Version)
				at, err := schema.Time.Append(nil, o.BegunAt)
				if err != nil {
					w.err = err
				}
				w.value("begun_at", at)
				w.text("program", o.Program)
				w.number("pid", uint64(o.PID))
			})
		}
	})
}
