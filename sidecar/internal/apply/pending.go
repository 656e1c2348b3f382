package apply

import (
	"errors"
	"fmt"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/freehold-dev/freehold/sidecar/internal/status"
)

// Record checks all of op that does not depend on stored values, and returns the
// operation that a pending patch is to hold: its operand normalized, and the
// incarnation of its key named, if there is one. keep is false if op changes
// nothing. mine are the owner's own keys, read without a lock.
func (r *Rules) Record(f schema.Field, op Op, carried bool, mine *Keys, others map[string]*Keys) (_ Op, keep bool, err error) {
	if err := op.check(f); err != nil {
		return op, false, err
	}
	keep = true
	switch f.EffectiveKind() {
	case schema.Map:
		keep, err = r.recordKey(f, &op, carried, mine, others)
	case schema.Set:
		op.Value, err = element(f, op)
	default:
		op.Value, err = r.recordValue(f, r.known(op.Field, f), op, carried)
		if err == nil { // a fold cannot ask for another token
			_, err = r.observe(f, op, slot{raw: op.Value, set: true})
		}
	}
	return op, keep && err == nil, err
}

// recordValue returns the operand of op, normalized.
func (r *Rules) recordValue(spec, known schema.Field, op Op, carried bool) ([]byte, error) {
	value, err := subject{spec, known, slot{}, carried}.apply(op)
	return value.raw, Invalid(err)
}

// recordKey checks op on a map and gives it the incarnation that it means.
func (r *Rules) recordKey(f schema.Field, op *Op, carried bool, mine *Keys, others map[string]*Keys) (keep bool, err error) {
	if err := schema.CheckKey(op.Key); err != nil {
		return false, Invalid(err)
	}
	owner, decides := r.KeysOwner(op.Field)
	from := mine
	if !decides {
		from = others[owner]
	}
	keys, err := from.of(op.Field)
	if err != nil {
		return false, err
	}
	now := keys.slot(op.Key)
	if !decides {
		if err := r.attaches(owner, now, op.At); err != nil {
			return false, err
		}
	}
	switch {
	case decides && op.At.IsPending() && !now.set: // pending patches alone have created it: absent
		op.At = document.Version{}
	case !op.At.IsZero() && (!now.set || !means(op.At, now.born)):
		return false, conflict(op.At)
	case now.set:
		op.At = now.born
	}
	if op.Verb == VerbInsert && op.Member == "" {
		return !now.set, r.mayWhole(f, *op)
	}
	spec, known, err := r.member(f, *op)
	if err != nil {
		return false, err
	}
	op.Value, err = r.recordValue(spec, known, *op, carried)
	return true, err
}

// Fold puts the operations of the pending patch id into l. born is the version
// of the keys that the patch creates, by is its provenance. gone are the reasons
// why operations were left out: their incarnation was deleted after them. If any
// other operation cannot be carried out, Fold returns err and changes nothing.
func (l *Layer) Fold(ops Patch, born document.Version, by document.Provenance) (gone []error, err error) {
	upper := l.On(l.Others)
	upper.born = born
	for _, op := range ops {
		f, err := l.rules.Field(op.Field)
		if err == nil {
			err = upper.Apply(f, op, false)
		}
		switch {
		case errors.Is(err, status.Conflict):
			gone = append(gone, fmt.Errorf("%s: %w", op.Where(), err))
		case err != nil:
			return nil, fmt.Errorf("%s: %w", op.Where(), err)
		}
	}
	l.Merge(upper, &by)
	return gone, nil
}

// joined is entry for an operation of a pending patch. The operation joins the
// incarnation of the key that it means; one that means an absent key joins the
// present incarnation, or creates one.
func (l *Layer) joined(field, key string, at document.Version) (slot, error) {
	own := l.slot(place{field, key})
	owner, decides := l.rules.KeysOwner(field)
	gone := fmt.Errorf("%w: the incarnation %v of the key is gone", status.Conflict, at)
	if decides {
		if at.IsZero() || own.set && means(at, own.born) {
			return own, nil
		}
		return slot{}, gone
	}
	if seen := l.Others[owner]; seen != nil { // a view has none: its join leaves out rows that are gone
		keys, err := seen.of(field)
		if err != nil {
			return slot{}, err
		}
		if seen.outlived(keys.slot(key), at) {
			return slot{}, gone
		}
	}
	switch {
	case own.set && means(at, own.born):
		return own, nil
	case own.set && own.born.After(at):
		return slot{}, gone
	}
	return slot{born: at}, nil
}
