package sidecar

import (
	"errors"
	"fmt"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/document"
)

// Acceptable says why [Accept] would refuse raw in the place of owner's sidecar,
// in a state declared by d; it returns nil if the values are good. decider
// returns the sidecar of an owner who decides the keys of a map; if it is nil,
// keys are not looked at.
func Acceptable(d *schema.Declaration, owner string, raw []byte, decider func(owner string) (*document.Document, error)) error {
	doc, err := document.DecodeForeign(raw)
	if err != nil {
		return err
	}
	for _, name := range doc.Names() {
		value, err := acceptable(d, owner, name, doc)
		if err != nil {
			return err
		}
		if keeper, _ := d.OwnerOf(name); value != nil && decider != nil && keeper != owner {
			if err := keysKnown(name, keeper, doc, decider); err != nil {
				return err
			}
		}
	}
	return nil
}

// acceptable returns the value of a field in a document that another hand wrote,
// as the field's codec writes it, or nil if no owner declares the field.
func acceptable(d *schema.Declaration, owner, name string, doc *document.Document) ([]byte, error) {
	f, ok := d.Owners[owner].Fields[name]
	if other, others := d.OwnerOf(name); !ok && others {
		return nil, fmt.Errorf("field %s: %w: it belongs to owner %s: take it out of the file, or run `freehold quarantine %s`", name, ErrNotOwner, other, owner)
	}
	if !ok {
		return nil, nil
	}
	if f.EffectiveKind() == schema.Once {
		return nil, fmt.Errorf("field %s: %w: it is claimed, and does not stand in the sidecar: take it out of the file, or run `freehold quarantine %s`", name, ErrValue, owner)
	}
	raw, _, _ := doc.Field(name)
	value, err := f.Normalize(raw)
	if err != nil {
		return nil, fmt.Errorf("field %s: %w: %w: mend it, or run `freehold quarantine %s`", name, ErrValue, err, owner)
	}
	return value, nil
}

// keysKnown refuses keys of a map that its other owner has not created.
func keysKnown(field, keeper string, doc *document.Document, decider func(string) (*document.Document, error)) error {
	rows, err := doc.Rows(field)
	if err != nil {
		return err
	}
	theirs, err := decider(keeper)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	created, _ := theirs.Rows(field) // where it has none, no key is known
	for _, row := range created {
		known[row.Key] = true
	}
	for _, row := range rows {
		if row.Born.IsZero() && !known[row.Key] {
			return noSuchKey(field, row.Key, keeper)
		}
	}
	return nil
}

func noSuchKey(field, key, keeper string) error {
	return fmt.Errorf("field %s, key %q: %w: owner %s, which decides the keys, has not created it: take it out of the file, or let that owner create it", field, key, ErrNoKey, keeper)
}

// Unusable adds to err, which says what is wrong with raw in the place of
// owner's sidecar, what to do about it: to accept it is only good advice where
// that works. d declares the state.
func Unusable(d *schema.Declaration, owner string, raw []byte, err error) error {
	if newer := new(document.FormatError); errors.As(err, &newer) { // it says what to do
		return newer
	}
	why := Acceptable(d, owner, raw, nil)
	switch {
	case why == nil:
		return fmt.Errorf("%w: look at it, then run `freehold accept %s` to take it as it is, or `freehold quarantine %s` to move it aside", err, owner, owner)
	case errors.Is(why, ErrInvalid):
		return fmt.Errorf("%w: mend it, or run `freehold quarantine %s` to move it aside", err, owner)
	}
	return fmt.Errorf("%w, and it cannot be accepted as it is: %v", err, why)
}
