package reader

import (
	"bytes"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/freehold-dev/freehold/sidecar/document"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// A source is one owner's sidecar as it was read last.
type source struct {
	owner string
	dir   *store.Store
	content
	pile *pile  // of an owner that defers, else nil
	read *owner // what was found, decoded; nil until a view wants it
}

// A content is what a file held when it was read last.
type content struct {
	file file
	path string // absolute
	memory
	err error // why it could not be read; the memory is void then
}

// A file is a file of the state: a sidecar, or a claim.
type file interface {
	Read(buf []byte) ([]byte, error)
	Same(known, spare []byte) (bool, []byte)
	Absent() bool
}

// A sidecarFile is an owner's file.
type sidecarFile struct {
	dir  *store.Store
	name string
	// upgrade is the id of a pending upgrade that has a sidecar of this owner
	// beside the state's, which counts as long as it stands there; or empty.
	upgrade string
	staged  bool // whether that one was read last
}

func (f *sidecarFile) Read(buf []byte) ([]byte, error) {
	if f.upgrade != "" {
		text, err := f.dir.ReadStaged(f.upgrade, f.name, buf, document.MaxSize)
		if f.staged = !errors.Is(err, fs.ErrNotExist); f.staged {
			return text, err
		} // then it has gone to its place
	}
	return f.dir.ReadFile(f.name, buf, document.MaxSize)
}

func (f *sidecarFile) Same(known, spare []byte) (bool, []byte) {
	if f.upgrade != "" {
		return false, spare
	}
	return f.dir.Same(f.name, known, spare)
}

func (f *sidecarFile) Absent() bool { return f.upgrade == "" && f.dir.Absent(f.name) }

// A memory holds the bytes of a file, to tell whether it has changed: the file
// systems give a replaced file its old inode number back and stamp two writes
// in one clock tick with one time, and a restored file with an old one, so that
// nothing less than the bytes says it.
type memory struct {
	text  []byte
	spare []byte // for the next read
	known bool
}

// take remembers text, which was read into spare, and reports whether it
// differs from what was known.
func (m *memory) take(text []byte) (differs bool) {
	if m.known && bytes.Equal(m.text, text) {
		m.spare = text
		return false
	}
	m.text, m.spare, m.known = text, m.text, true
	return true
}

// where is the path of the file that was read last.
func (s *source) where() string {
	if f, ok := s.file.(*sidecarFile); ok && f.staged {
		return f.dir.StagedPath(f.upgrade, f.name)
	}
	return s.path
}

// collect reads pending patches, then the sidecar, and reports whether
// anything moved. The order counts: what vanishes in between is in the sidecar.
func (s *source) collect() (moved bool) {
	if s.pile != nil {
		moved = s.pile.collect()
		if afterPile != nil {
			afterPile()
		}
	}
	if s.content.collect() || moved {
		s.read, moved = nil, true
	}
	return moved
}

func (s *content) collect() (moved bool) {
	if s.unmoved() {
		return false
	}
	text, err := s.file.Read(s.spare)
	if err != nil {
		if s.err != nil && same(s.err, err) {
			return false
		}
		// What it held before is no part of what was found: two readers agree
		// on the cut's id, whatever they have seen of the past.
		s.err, s.known, s.text = err, false, s.text[:0]
		return true
	}
	if !s.take(text) {
		return false
	}
	s.err = nil
	return true
}

// unmoved is the short way to the usual answer.
func (s *content) unmoved() (ok bool) {
	if s.known {
		ok, s.spare = s.file.Same(s.text, s.spare)
		return ok
	}
	return s.err != nil && errors.Is(s.err, fs.ErrNotExist) && s.file.Absent()
}

// same reports whether two reads failed alike.
func same(a, b error) bool {
	if errors.Is(a, fs.ErrNotExist) {
		return errors.Is(b, fs.ErrNotExist)
	}
	return a.Error() == b.Error()
}

// follow returns the sources of d's owners, keeping what old ones have read. What
// they found has to be judged anew by another declaration.
func follow(old []*source, dir *store.Store, d *declared) []*source {
	byOwner := map[string]*source{}
	for _, s := range old {
		byOwner[s.owner] = s
	}
	sources := make([]*source, len(d.owners))
	for i, owner := range d.owners {
		name := store.Sidecar(owner)
		s, ok := byOwner[owner]
		if !ok {
			s = &source{owner: owner, content: content{path: filepath.Join(dir.Path(), name)}}
		}
		switch pending := d.made[owner]; {
		case !pending:
			s.pile = nil
		case s.pile == nil:
			s.pile = &pile{dir: dir, owner: owner, stateID: d.stateID}
		}
		file := &sidecarFile{dir: dir, name: name}
		if d.pending != nil && slices.Contains(d.pending.Sidecars, owner) {
			file.upgrade = d.pending.ID
		}
		s.read, s.dir, s.file = nil, dir, file
		sources[i] = s
	}
	return sources
}
