// Package apply says how one operation changes a value, by the kind of its
// field: in a commit, in the fold of a pending patch, and in a view that shows
// patches. It does no I/O and knows no locks.
package apply

import (
	"errors"
	"fmt"
	"slices"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/freehold-dev/freehold/sidecar/internal/status"
	"github.com/go-json-experiment/json/jsontext"
)

// A Verb is the effect of an operation on its field.
type Verb = schema.Verb

// The verbs of a patch, under shorter names.
const (
	VerbSet    = schema.VerbSet
	VerbClear  = schema.VerbClear
	VerbAdd    = schema.VerbAdd
	VerbRaise  = schema.VerbRaise
	VerbLower  = schema.VerbLower
	VerbInsert = schema.VerbInsert
	VerbRemove = schema.VerbRemove
	VerbDelete = schema.VerbDelete
	VerbDone   = schema.VerbDone
)

// Commuting are the verbs of a pending patch: in every order they have the same
// effect. A removal has not, so it waits for the lock or fails.
var Commuting = []Verb{VerbAdd, VerbRaise, VerbLower, VerbInsert}

// An Op is one operation on one field, as data.
type Op struct {
	Field string `json:"field"`
	Verb  Verb   `json:"op"`
	// Key of a map; else empty.
	Key string `json:"key,omitzero"`
	// Member of a record at Key; empty if the map has values, and for the verbs
	// of the key itself.
	Member string `json:"member,omitzero"`
	// At is the incarnation of Key that is meant. If zero, the current one.
	At    document.Version `json:"at,omitzero"`
	Value jsontext.Value   `json:"value,omitzero"`
	// Seen are the versions of the field's dependencies, as they were before
	// the value was produced. If zero, they are not known. An independent field
	// takes none.
	Seen Seen `json:"seen,omitzero"`
}

// A Patch is the operations of one commit, in order.
type Patch []Op

// Where names the place of op, for messages.
func (op Op) Where() string {
	where := "field " + op.Field
	if op.Key != "" {
		where += fmt.Sprintf(", key %q", op.Key)
	}
	if op.Member != "" {
		where += ", member " + op.Member
	}
	return where
}

// Invalid wraps status.Value around the fault of an operation; nil stays nil.
func Invalid(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", status.Value, err)
}

// A subject is the target of an operation: a value, its declaration in the
// manifest, and in the program.
type subject struct {
	spec, known schema.Field
	old         slot
	// carried says that members which spec does not declare came with the
	// value from its source. Otherwise they are misspelt.
	carried bool
}

// apply returns the subject after op.
func (s subject) apply(op Op) (slot, error) {
	if err := s.spec.CheckVerb(op.Verb); err != nil {
		return slot{}, err
	}
	if op.Verb == VerbClear {
		if len(op.Value) > 0 {
			return slot{}, errors.New("clear takes no value")
		}
		return slot{}, nil
	}
	operand, err := s.spec.Normalize(op.Value)
	if err != nil {
		return slot{}, err
	}
	switch op.Verb {
	case VerbAdd:
		return add(s.spec, s.old, operand)
	case VerbRaise, VerbLower:
		return move(s.spec, op.Verb, s.old, operand)
	}
	if at, ok := s.spec.Undeclared(operand); ok && !s.carried {
		return slot{}, fmt.Errorf("the declaration has no member %s: take it out of the value", at)
	}
	return slot{raw: s.known.Keep(s.old.raw, operand), set: true}, nil
}

func add(f schema.Field, old slot, operand []byte) (slot, error) {
	if !old.set {
		old.raw = f.Zero()
	}
	sum, err := f.Sum(old.raw, operand)
	return slot{raw: sum, set: true}, err
}

// move keeps the stored value unless operand lies beyond it.
func move(f schema.Field, verb Verb, old slot, operand []byte) (slot, error) {
	if !old.set {
		return slot{raw: operand, set: true}, nil
	}
	order, err := f.Compare(operand, old.raw)
	if err != nil {
		return slot{}, err
	}
	if (verb == VerbRaise && order > 0) || (verb == VerbLower && order < 0) {
		return slot{raw: operand, set: true}, nil
	}
	return old, nil
}

// element returns the element that op inserts into the set f or removes from it.
func element(f schema.Field, op Op) ([]byte, error) {
	if err := f.CheckVerb(op.Verb); err != nil {
		return nil, Invalid(err)
	}
	of, _ := f.Element()
	raw, err := of.Normalize(op.Value)
	return raw, Invalid(err)
}

// check returns the error of an operand that f's kind cannot take.
func (op Op) check(f schema.Field) error {
	kind := f.EffectiveKind()
	switch {
	case kind != schema.Map && (op.Key != "" || op.Member != "" || !op.At.IsZero()):
		return Invalid(errors.New("it is no map: leave out the key, the member and the incarnation"))
	case !slices.Contains(schema.DependentKinds(), kind) && !op.Seen.IsZero():
		return Invalid(fmt.Errorf("a %s depends on nothing: leave out what was seen", kind))
	}
	return nil
}
