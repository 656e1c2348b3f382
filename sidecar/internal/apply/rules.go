package apply

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/status"
)

// Rules are the declarations by which operations of one owner are applied.
type Rules struct {
	Declaration *schema.Declaration // of the manifest
	StateID     string
	Owner       string
	// Known is the owner as the program was built; of a view, as in Declaration.
	Known schema.Owner
}

// Field returns the declaration of the owner's field name.
func (r *Rules) Field(name string) (schema.Field, error) {
	f, err := r.Declaration.FieldOf(r.Owner, name)
	if err == nil {
		return f, nil
	}
	return schema.Field{}, fmt.Errorf("field %s: %w", name, refused(err))
}

// refused wraps the error of a write that the declaration does not allow.
func refused(err error) error {
	refusal, ok := errors.AsType[*schema.Refusal](err)
	switch {
	case ok && refusal.By == refusal.Owner:
		return Invalid(err)
	case ok && refusal.By == "":
		return fmt.Errorf("%w: %w; add it to owners.yaml", status.NotOwner, err)
	}
	return fmt.Errorf("%w: %w; let its owner do it", status.NotOwner, err)
}

// known returns the program's declaration of the field name, which the manifest
// declares as f. It is the older one if a newer build has opened the state.
func (r *Rules) known(name string, f schema.Field) schema.Field {
	if known, ok := r.Known.Fields[name]; ok {
		return known
	}
	return f
}

// KeysOwner returns the owner of the keys of the map field, and whether that is
// the owner of the rules.
func (r *Rules) KeysOwner(field string) (owner string, own bool) {
	owner, _ = r.Declaration.OwnerOf(field)
	return owner, owner == r.Owner
}

// observe returns the content of a field after op, which made it now: the value
// with op's token. Without a token, the old one goes with a value that op wrote
// and stays with one that op left alone.
func (r *Rules) observe(f schema.Field, op Op, now slot) (slot, error) {
	if op.Seen.IsZero() {
		return now, nil
	}
	if !f.Dependent() {
		return slot{}, Invalid(fmt.Errorf("it depends on nothing: leave out what was seen"))
	}
	if op.Verb == VerbClear {
		return slot{}, Invalid(fmt.Errorf("clear takes nothing that was seen"))
	}
	if state := op.Seen.state(); state != r.StateID {
		return slot{}, fmt.Errorf("%w: the token is of the state with the id %.40q, this one is %q: take one of this state", status.NotObserved, state, r.StateID)
	}
	seen, err := op.Seen.of(r.known(op.Field, f).DependsOn)
	if err != nil {
		return slot{}, err
	}
	if op.Verb == VerbRaise || op.Verb == VerbLower {
		// A value beyond op's keeps the observation of its own writer.
		if operand, err := f.Normalize(op.Value); err != nil || !bytes.Equal(operand, now.raw) {
			return now, nil
		}
	}
	now.seen = seen
	return now, nil
}
