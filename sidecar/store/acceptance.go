package store

import (
	"fmt"
	"slices"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
)

// Accepted returns the values in doc, which another program wrote in the place
// of owner's sidecar, by field, as their codecs write them. Members that no
// owner ever declared are left out. The error names the field, and wraps
// [NotOwner], [BadValue], [NoKey], or the status of the owner that decides the
// keys of a map.
func (d *Store) Accepted(m *schema.Manifest, owner string, doc *document.Document) (values map[string][]byte, err error) {
	values = map[string][]byte{}
	for _, name := range doc.Names() {
		value, err := acceptable(m, owner, name, doc.Value(name))
		if err != nil {
			return nil, fmt.Errorf("field %s: %w", name, err)
		}
		if value == nil {
			continue
		}
		values[name] = value
		if keeper, _ := m.Declaration.OwnerOf(name); keeper != owner {
			if err := d.keysExist(m, name, keeper, doc); err != nil {
				return nil, fmt.Errorf("field %s: %w", name, err)
			}
		}
	}
	return values, nil
}

// acceptable returns the value of a field as its codec writes it, or nil if no
// owner ever declared the field.
func acceptable(m *schema.Manifest, owner, name string, raw []byte) ([]byte, error) {
	f, ok := m.Declaration.Owners[owner].Fields[name]
	if !ok {
		if other, others := m.Declaration.OwnerOf(name); others {
			return nil, fmt.Errorf("%w: it belongs to owner %s", NotOwner, other)
		}
		if slices.Contains(m.Removed, "field "+name) { // a later field of that name would have its value
			return nil, fmt.Errorf("%w: an upgrade of the state has removed or renamed it", NotOwner)
		}
		return nil, nil
	}
	if f.EffectiveKind() == schema.Once {
		return nil, fmt.Errorf("%w: a once field is claimed, and has no place in a sidecar", BadValue)
	}
	value, err := f.Normalize(raw)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", BadValue, err)
	}
	return value, nil
}

// keysExist returns an error unless keeper, the owner of the keys, has all keys
// of the map in doc that have no incarnation.
func (d *Store) keysExist(m *schema.Manifest, field, keeper string, doc *document.Document) error {
	rows, err := doc.Rows(field)
	if err != nil {
		return err
	}
	var keys *Owner
	for _, row := range rows {
		if !row.Born.IsZero() {
			continue
		}
		if keys == nil {
			if keys = d.Owner(m, keeper); keys.Err != nil {
				return fmt.Errorf("owner %s, which decides the keys, cannot be used: %w", keeper, keys.Err)
			}
		}
		if _, ok := keys.Row(field, row.Key); !ok {
			return fmt.Errorf("key %q: %w: owner %s, which decides the keys, has not created it", row.Key, NoKey, keeper)
		}
	}
	return nil
}
