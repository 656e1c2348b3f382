package sidecar

import (
	"bytes"
	"fmt"
	"sync"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/apply"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// self is the identity of this process, which tests change to that of a
// process on another boot.
var self = process.Self

// A site is one owner in one state directory, as a program has opened it. It is
// never changed after that.
type site struct {
	dir      *statedir.Dir
	path     string // of the sidecar, for messages
	manifest *schema.Manifest
	built    *schema.Declaration // of the program
	owner    string
	declared schema.Owner // by the manifest
	known    schema.Owner // by the program
	rules    *apply.Rules
	program  string
	actor    process.Identity // of claims and beginnings
	clock    func() time.Time
	notice   func(error) // may be nil
}

func (s *site) openLock(name string) (*statedir.Lock, error) {
	return s.dir.OpenLock(s.manifest, name)
}

// sourceOf returns a source of any owner of the state.
func (s *site) sourceOf(owner string) *store.Source {
	return store.On(s.dir).Source(s.manifest, owner)
}

// still returns an error that wraps [ErrDeclaration] if an upgrade of the state
// forbids the program to write. The caller does not hold the owner's lock, so an
// upgrade may come right after.
func (s *site) still() error {
	text, err := s.dir.ManifestText(nil)
	if err != nil || bytes.Equal(text, s.manifest.Text) {
		return err
	}
	now, err := s.dir.ParseManifest(text)
	if err != nil {
		return err
	}
	return s.dir.Still(s.manifest, now, s.built)
}

// A neighbour is a sidecar that a Writer reads without its lock: that of the
// owner of a map's keys, or before a deferral the Writer's own.
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

// keysOf reads the keys of owner's maps.
func (s *site) keysOf(owner string, n *neighbour) *apply.Keys {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.source == nil {
		n.source = s.sourceOf(owner)
	}
	o := n.source.Read()
	if n.keys != nil && n.owner == o {
		return n.keys
	}
	err := o.Err
	if err != nil && owner != s.owner {
		err = fmt.Errorf("owner %s, which decides the keys: %w", owner, err)
	}
	n.owner, n.keys = o, apply.NewKeys(owner, o.Document(), err)
	return n.keys
}
