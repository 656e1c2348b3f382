package adopt

import (
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// txSource is the source within an Update, under the owner's lock.
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

// docSource is the source of a sidecar read without a lock.
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
	list, _ := doc.Rows(name) // an invalid map fails the commit
	for _, row := range list {
		rows[row.Key] = row
	}
	return rows
}

// A keyring holds the keys of maps that another owner decides.
type keyring struct{ maps map[string]*keysOfMap }

// of returns the keys of a field, or nil if the owner decides them itself.
func (k *keyring) of(field string) *keysOfMap { return k.maps[field] }

// keysOfMap holds the keys of a map as their owner stores them.
type keysOfMap struct {
	rows    map[string]document.Row
	adopted sidecar.Version // when the legacy file's keys were imported
}

// at returns the present incarnation of a key. It returns false if the key was
// created after the import of the file's keys: the file then means another one.
func (k *keysOfMap) at(key string) (v sidecar.Version, ok bool) {
	if k == nil {
		return v, false
	}
	row, ok := k.rows[key]
	return row.Born, ok && (k.adopted.IsZero() || !row.Born.After(k.adopted))
}

// claims are the claimants of once fields.
type claims map[string]sidecar.Claimant

// A directory reads sidecars without locks.
type directory struct {
	dir      *statedir.Dir
	manifest *schema.Manifest
}

func openDirectory(path string) (*directory, error) {
	dir, err := statedir.Open(path)
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

// sidecar reads the sidecar of owner, which may be missing.
func (d *directory) sidecar(owner string) (*document.Document, error) {
	o := store.On(d.dir).Owner(d.manifest, owner)
	return o.Document(), o.Err
}
