package adopt

import (
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/document"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// txSource is what an Update sees.
type txSource struct {
	tx     *sidecar.Tx
	claims claims
}

func (s txSource) field(name string) stored {
	raw, _ := s.tx.Get(name)
	by, written := s.tx.Provenance(name)
	return stored{raw, by, written, s.tx.Adopted(name)}
}

func (s txSource) claimed(name string) sidecar.Claimant { return s.claims[name] }

func (s txSource) entry(name, key string) (raw []byte, ok bool) { return s.tx.GetKey(name, key, "") }

// docSource is what a sidecar shows without a lock.
type docSource struct {
	doc    *document.Document
	keys   *keyring
	claims claims
	rows   map[string]map[string]document.Row // by field and key
}

func newDocSource(doc *document.Document, keys *keyring, c claims) docSource {
	return docSource{doc, keys, c, map[string]map[string]document.Row{}}
}

func (s docSource) field(name string) stored {
	raw, by, written := s.doc.Field(name)
	return stored{raw, by, written, !s.doc.Adopted(name).IsZero()}
}

func (s docSource) claimed(name string) sidecar.Claimant { return s.claims[name] }

func (s docSource) entry(name, key string) (raw []byte, ok bool) {
	rows, known := s.rows[name]
	if !known {
		rows = rowsOf(s.doc, name)
		s.rows[name] = rows
	}
	row, ok := rows[key]
	if k := s.keys.of(name); k != nil && row.Born != k.rows[key].Born {
		return nil, false // attached to another incarnation
	}
	return row.Value, ok
}

func rowsOf(doc *document.Document, name string) map[string]document.Row {
	rows := map[string]document.Row{}
	list, _ := doc.Rows(name) // what cannot be taken apart fails the commit
	for _, row := range list {
		rows[row.Key] = row
	}
	return rows
}

// A keyring has the keys of the maps whose keys another owner decides.
type keyring struct{ maps map[string]*keysOfMap }

// of returns those of a field, or nil if the owner decides its keys itself.
func (k *keyring) of(field string) *keysOfMap { return k.maps[field] }

// keysOfMap are the keys of a map as their owner has them.
type keysOfMap struct {
	rows    map[string]document.Row
	adopted sidecar.Version // when the legacy file's keys were folded into them
}

// at returns the incarnation that the legacy file speaks of when it names a
// key: the present one, unless the key was created after the file's keys were.
func (k *keysOfMap) at(key string) (v sidecar.Version, ok bool) {
	if k == nil {
		return v, false
	}
	row, ok := k.rows[key]
	return row.Born, ok && (k.adopted.IsZero() || !row.Born.After(k.adopted))
}

// claims has who has claimed which once field.
type claims map[string]sidecar.Claimant

// A directory reads sidecars without locks.
type directory struct {
	dir      *store.Store
	manifest *schema.Manifest
}

func openDirectory(path string) (*directory, error) {
	dir, err := store.Open(path)
	if err != nil {
		return nil, err
	}
	manifest, err := dir.Manifest()
	if err != nil {
		dir.Close()
		return nil, err
	}
	return &directory{dir, manifest}, nil
}

// sidecar reads the sidecar of owner; there may be none.
func (d *directory) sidecar(owner string) (*document.Document, error) {
	o := d.dir.Owner(d.manifest, owner)
	return o.Document(), o.Err
}
