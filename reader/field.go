package reader

import (
	"errors"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// Provenance says where a field comes from: who wrote or cleared it last.
type Provenance struct {
	// Owner is the only one who may write the field.
	Owner string `json:"owner"`
	// File is the absolute path of the owner's sidecar; of a once field, of
	// its claim.
	File string `json:"file"`
	// Version of the commit that changed the field last. If that was a patch
	// which is still deferred, it has the patch's id and nothing else; see
	// [store.Version.IsPending]. A claim is no commit and has none.
	Version store.Version `json:"version,omitzero"`
	// Claim is the id of a once field's claim; else empty.
	Claim string `json:"claim,omitzero"`
	// ChangedAt is when that commit or claim was made, by its writer's clock.
	ChangedAt time.Time `json:"changed_at,omitzero"`
	// Program that made it.
	Program string `json:"program,omitzero"`
	// PID of that program's process.
	PID int `json:"pid,omitzero"`
	// Status of that file.
	Status store.Status `json:"status"`
	// Observed is, of a field that depends on others, what its writer had
	// seen of them before the value was produced. It is zero if the writer
	// did not say.
	Observed store.Seen `json:"observed,omitzero"`
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
	return Field[T]{v.Field(name), codec}
}

// FieldIn returns a member of what a map has at a key. It is for generated
// code.
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
		_, o, _ := f.entry.find()
		return zero, f.entry.misfit(o, err)
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

// Freshness says whether the value was computed from the newest of what it
// depends on; see [Entry.Freshness].
func (f Field[T]) Freshness() Freshness { return f.entry.Freshness() }
