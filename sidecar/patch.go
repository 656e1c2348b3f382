package sidecar

import (
	"fmt"

	"github.com/freehold-dev/freehold/schema"
	"github.com/go-json-experiment/json/jsontext"
)

// A Verb is what an operation does to its field.
type Verb string

// The verbs, each for the kinds of field named after it.
const (
	VerbSet    Verb = "set"    // value
	VerbClear  Verb = "clear"  // value
	VerbAdd    Verb = "add"    // counter
	VerbRaise  Verb = "raise"  // max
	VerbLower  Verb = "lower"  // min
	VerbInsert Verb = "insert" // set: an element; map: a key without members
	VerbRemove Verb = "remove" // set
	VerbDelete Verb = "delete" // map
	VerbDone   Verb = "done"   // event: one that is over already; see [Event] for others
)

// An Op is one operation on one field, as data.
type Op struct {
	Field string `json:"field"`
	Verb  Verb   `json:"op"`
	// Key of a map; else empty.
	Key string `json:"key,omitzero"`
	// Member of what a map has at Key; empty if that is no record, and for
	// the verbs of the key itself.
	Member string `json:"member,omitzero"`
	// At is the incarnation of Key that is meant. If zero, the current one.
	At    Version        `json:"at,omitzero"`
	Value jsontext.Value `json:"value,omitzero"`
	// Seen is what was seen of what the field depends on before the value
	// was produced. If zero, nobody knows. A field that depends on nothing
	// takes none.
	Seen Seen `json:"seen,omitzero"`
}

// A Patch is what one commit changes: its operations, in order.
type Patch []Op

// where names what op is about, for messages.
func (op Op) where() string {
	where := "field " + op.Field
	if op.Key != "" {
		where += fmt.Sprintf(", key %q", op.Key)
	}
	if op.Member != "" {
		where += ", member " + op.Member
	}
	return where
}

// kindOf maps each verb of a value to the kind that has it.
var kindOf = map[Verb]schema.Kind{
	VerbSet: schema.Value, VerbClear: schema.Value, VerbAdd: schema.Counter, VerbRaise: schema.Max, VerbLower: schema.Min,
}

// verbsOf lists a kind's verbs for messages.
var verbsOf = map[schema.Kind]string{
	schema.Value: "set or clear", schema.Counter: "add", schema.Max: "raise", schema.Min: "lower",
	schema.Once: "claim, which is no part of a commit,", schema.Set: "insert or remove", schema.Map: "insert or delete, or name a member",
	schema.Event: "begin and done, which are no part of a commit, or done with the time of one that is over",
}

// wrongVerb says what verb f has instead of op's.
func wrongVerb(f schema.Field, verb Verb) error {
	kind, what := f.EffectiveKind(), string(f.EffectiveKind())
	if kind == schema.Event {
		what = "field of kind event"
	}
	switch verb {
	case VerbSet, VerbClear, VerbAdd, VerbRaise, VerbLower, VerbInsert, VerbRemove, VerbDelete, VerbDone:
		return fmt.Errorf("%s is not for a %s: use %s", verb, what, verbsOf[kind])
	}
	return fmt.Errorf("there is no operation %q: use %s", verb, verbsOf[kind])
}

// A subject is what an operation changes: a value, what the manifest says of
// it, and what the program knows of that.
type subject struct {
	spec, known schema.Field
	old         slot
	// carried says that members which spec does not declare came with the
	// value from where it was read. Others are misspelt.
	carried bool
}

// apply returns what op makes of the subject.
func (s subject) apply(op Op) (slot, error) {
	if kind, ok := kindOf[op.Verb]; !ok || kind != s.spec.EffectiveKind() {
		return slot{}, wrongVerb(s.spec, op.Verb)
	}
	if op.Verb == VerbClear {
		if len(op.Value) > 0 {
			return slot{}, fmt.Errorf("clear takes no value")
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
