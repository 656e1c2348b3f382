package sidecar

import (
	"fmt"
	"sync"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/apply"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// A neighbour is an owner whose sidecar this Writer reads without a lock: the
// owner of the keys of a map, or an owner that depends on this one's fields.
type neighbour struct {
	mu     sync.Mutex
	source *store.Source
	owner  *store.Owner // as it was read last
	keys   *apply.Keys  // of owner
}

// keysOwners returns the owners of the keys of owner's maps, its own apart.
func keysOwners(d *schema.Declaration, owner string) map[string]*neighbour {
	all := map[string]*neighbour{}
	for _, field := range d.Owners[owner].FieldNames() {
		if other, _ := d.OwnerOf(field); other != owner {
			all[other] = new(neighbour)
		}
	}
	return all
}

// look reads the sidecars of the owners of keys, if there are any.
func (w *Writer) look() map[string]*apply.Keys {
	if len(w.keysOwners) == 0 {
		return nil
	}
	seen := make(map[string]*apply.Keys, len(w.keysOwners))
	for owner, n := range w.keysOwners {
		seen[owner] = w.lookAt(owner, n)
	}
	return seen
}

func (w *Writer) lookAt(owner string, n *neighbour) *apply.Keys {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.source == nil {
		n.source = store.On(w.dir).Source(w.manifest, owner)
	}
	o := n.source.Read()
	if n.keys != nil && n.owner == o {
		return n.keys
	}
	err := o.Err
	if err != nil && owner != w.owner {
		err = fmt.Errorf("owner %s, which decides the keys: %w", owner, err)
	}
	n.owner, n.keys = o, apply.NewKeys(owner, o.Document(), err)
	return n.keys
}

// gone reports whether a row of a map is attached to an incarnation that was
// deleted, as the newest of the requests has seen: no view shows it any more.
func (b *batch) gone(field string, row document.Row) bool {
	owner, own := b.w.rules.KeysOwner(field)
	if own {
		return false
	}
	var latest *apply.Keys
	var version Version
	for _, r := range b.requests {
		keys := r.others[owner]
		if keys == nil {
			continue
		}
		if doc, err := keys.Doc(); err == nil && (latest == nil || doc.Version.After(version)) {
			latest, version = keys, doc.Version
		}
	}
	return latest != nil && latest.Gone(field, row)
}

// foldKeys makes every key of a map that another hand has edited a change of
// the batch. A key that the file gives an incarnation keeps it, and with it the
// parts of other owners; a new one is created, or attached to the present
// incarnation.
func (b *batch) foldKeys(field string, value []byte) error {
	doc := b.base.Clone()
	doc.Set(field, value, document.Provenance{})
	rows, err := doc.Rows(field)
	if err != nil {
		return fmt.Errorf("%s: field %s: %w", b.w.file(), field, err)
	}
	owner, own := b.w.rules.KeysOwner(field)
	for _, row := range rows {
		switch {
		case !row.Born.IsZero():
		case own:
			row.Born = b.next
		default:
			born, there, err := b.w.look()[owner].Incarnation(field, row.Key)
			if err != nil {
				return err
			}
			if !there {
				return fmt.Errorf("%s: field %s, key %q: %w: owner %s, which decides the keys, has not created it", b.w.file(), field, row.Key, ErrNoKey, owner)
			}
			row.Born = born
		}
		b.layer.PutRow(field, row)
	}
	return nil
}
