package sidecar

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/document"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// A decider is the owner of the keys of a map that this Writer's owner has
// members of. Its sidecar is read without a lock when an Update begins.
type decider struct {
	mu     sync.Mutex
	source *store.Source
	last   *snapshot
}

// A snapshot is a decider's sidecar at one moment. It is safe for concurrent
// use.
type snapshot struct {
	owner string
	of    *store.Owner
	doc   *document.Document
	err   error // why it cannot be used

	mu   sync.Mutex
	maps map[string]*table
}

// deciders returns the owners of the keys of o's maps, o's own apart.
func deciders(d *schema.Declaration, owner string) map[string]*decider {
	var all map[string]*decider
	for _, field := range d.Owners[owner].FieldNames() {
		other, _ := d.OwnerOf(field)
		if other == owner {
			continue
		}
		if all == nil {
			all = map[string]*decider{}
		}
		all[other] = new(decider)
	}
	return all
}

// look reads the sidecars of the deciders, if there are any.
func (w *Writer) look() map[string]*snapshot {
	if len(w.deciders) == 0 {
		return nil
	}
	seen := make(map[string]*snapshot, len(w.deciders))
	for owner, d := range w.deciders {
		seen[owner] = w.lookAt(owner, d)
	}
	return seen
}

func (w *Writer) lookAt(owner string, d *decider) *snapshot {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.source == nil {
		d.source = w.dir.Source(w.manifest, owner)
	}
	o := d.source.Read()
	if d.last != nil && d.last.of == o {
		return d.last
	}
	d.last = &snapshot{owner: owner, of: o, doc: o.Document(), err: o.Err}
	if o.Err != nil && owner != w.owner {
		d.last.err = fmt.Errorf("owner %s, which decides the keys: %w", owner, o.Err)
	}
	return d.last
}

// keys returns the keys of the map field, whose order is that of its rows.
func (s *snapshot) keys(field string) (*table, error) {
	if s.err != nil {
		return nil, s.err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t, ok := s.maps[field]
	if !ok {
		t = &table{order: strings.Compare}
		t.rows, t.err = s.doc.Rows(field)
		if s.maps == nil {
			s.maps = map[string]*table{}
		}
		s.maps[field] = t
	}
	return t, t.err
}

// outlived reports whether a key that is attached to the incarnation born, or
// that was, is gone for the snapshot: it has none, or another one, and born
// is not too new for it to know.
func (s *snapshot) outlived(now slot, born Version) bool {
	return !(now.set && now.born == born) && !born.After(s.doc.Version)
}

// collect returns rows without those that are attached to incarnations which
// are gone: no view shows them any more.
func (b *batch) collect(field string, rows []document.Row) []document.Row {
	owner, ok := b.w.manifest.Declaration.OwnerOf(field)
	if !ok || owner == b.w.owner {
		return rows
	}
	var latest *snapshot
	for _, r := range b.requests {
		if s := r.others[owner]; s != nil && s.err == nil && (latest == nil || s.doc.Version.After(latest.doc.Version)) {
			latest = s
		}
	}
	if latest == nil {
		return rows
	}
	keys, err := latest.keys(field)
	if err != nil {
		return rows
	}
	return slices.DeleteFunc(rows, func(row document.Row) bool { return latest.outlived(keys.slot(row.Key), row.Born) })
}

// foldKeys makes every key of a map that another hand has edited a change of
// the batch. A key that the file gives an incarnation keeps it, and with it
// what other owners have there; one that is new is created, or attached to the
// incarnation that there is.
func (b *batch) foldKeys(field string, value []byte) error {
	doc := b.base.Clone()
	doc.Set(field, value, document.Provenance{})
	rows, err := doc.Rows(field)
	if err != nil {
		return fmt.Errorf("%s: field %s: %w", b.w.file(), field, err)
	}
	owner, _ := b.w.manifest.Declaration.OwnerOf(field)
	for _, row := range rows {
		switch {
		case !row.Born.IsZero():
		case owner == b.w.owner:
			row.Born = b.next
		default:
			keys, err := b.w.look()[owner].keys(field)
			if err != nil {
				return err
			}
			now := keys.slot(row.Key)
			if !now.set {
				return fmt.Errorf("%s: field %s, key %q: %w: owner %s, which decides the keys, has not created it", b.w.file(), field, row.Key, ErrNoKey, owner)
			}
			row.Born = now.born
		}
		b.changes[place{field, row.Key}] = slot{raw: row.Value, set: true, born: row.Born}
	}
	return nil
}
