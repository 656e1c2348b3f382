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
	Set   Verb = "set"   // value
	Clear Verb = "clear" // value
	Add   Verb = "add"   // counter
	Raise Verb = "raise" // max
	Lower Verb = "lower" // min
)

// An Op is one operation on one field, as data.
type Op struct {
	Field string         `json:"field"`
	Verb  Verb           `json:"op"`
	Value jsontext.Value `json:"value,omitempty"`
}

// A Patch is what one commit changes: its operations, in order.
type Patch []Op

// kindOf maps each verb to the kind of field that has it.
var kindOf = map[Verb]schema.Kind{
	Set: schema.Value, Clear: schema.Value, Add: schema.Counter, Raise: schema.Max, Lower: schema.Min,
}

// verbsOf lists a kind's verbs for messages.
var verbsOf = map[schema.Kind]string{
	schema.Value: "set or clear", schema.Counter: "add", schema.Max: "raise", schema.Min: "lower",
}

// A slot is a field's stored value, which may be none.
type slot struct {
	raw []byte
	set bool
}

// apply returns what op makes of the value old of the field f.
func apply(f schema.Field, op Op, old slot) (slot, error) {
	kind, ok := kindOf[op.Verb]
	if !ok {
		return slot{}, fmt.Errorf("there is no operation %q: use %s", op.Verb, verbsOf[f.EffectiveKind()])
	}
	if kind != f.EffectiveKind() {
		return slot{}, fmt.Errorf("%s is not for a %s: use %s", op.Verb, f.EffectiveKind(), verbsOf[f.EffectiveKind()])
	}
	if op.Verb == Clear {
		if len(op.Value) > 0 {
			return slot{}, fmt.Errorf("clear takes no value")
		}
		return slot{}, nil
	}
	operand, err := f.Normalize(op.Value)
	if err != nil {
		return slot{}, err
	}
	switch op.Verb {
	case Add:
		return add(f, old, operand)
	case Raise, Lower:
		return move(f, op.Verb, old, operand)
	}
	return slot{operand, true}, nil
}

func add(f schema.Field, old slot, operand []byte) (slot, error) {
	if !old.set {
		old.raw = f.Zero()
	}
	sum, err := f.Sum(old.raw, operand)
	return slot{sum, true}, err
}

// move keeps the stored value unless operand lies beyond it.
func move(f schema.Field, verb Verb, old slot, operand []byte) (slot, error) {
	if !old.set {
		return slot{operand, true}, nil
	}
	order, err := f.Compare(operand, old.raw)
	if err != nil {
		return slot{}, err
	}
	if (verb == Raise && order > 0) || (verb == Lower && order < 0) {
		return slot{operand, true}, nil
	}
	return old, nil
}
