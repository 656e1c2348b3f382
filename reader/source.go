package reader

import (
	"bytes"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/freehold-dev/freehold/sidecar/document"
	"github.com/freehold-dev/freehold/sidecar/statedir"
)

// A source is one owner's sidecar as it was read last.
type source struct {
	owner string
	file  string // its name
	path  string // its absolute path
	memory
	err  error  // why it could not be read; the memory is void then
	read *owner // what was found, decoded; nil until a view wants it
}

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

// collect reads the sidecar and reports whether it moved.
func (s *source) collect(dir *statedir.Dir) (moved bool) {
	if s.unmoved(dir) {
		return false
	}
	text, err := dir.ReadFile(s.file, s.spare, document.MaxSize)
	if err != nil {
		if s.err != nil && same(s.err, err) {
			return false
		}
		s.err, s.known, s.read = err, false, nil
		return true
	}
	if !s.take(text) {
		return false
	}
	s.err, s.read = nil, nil
	return true
}

// unmoved is the short way to the usual answer.
func (s *source) unmoved(dir *statedir.Dir) (ok bool) {
	if s.known {
		ok, s.spare = dir.Same(s.file, s.text, s.spare)
		return ok
	}
	return s.err != nil && errors.Is(s.err, fs.ErrNotExist) && dir.Absent(s.file)
}

// same reports whether two reads failed alike.
func same(a, b error) bool {
	if errors.Is(a, fs.ErrNotExist) {
		return errors.Is(b, fs.ErrNotExist)
	}
	return a.Error() == b.Error()
}

// follow returns the sources of owners, keeping what old ones have read. What
// they found has to be judged anew by another declaration.
func follow(old []*source, dir string, owners []string) []*source {
	byOwner := map[string]*source{}
	for _, s := range old {
		byOwner[s.owner] = s
	}
	sources := make([]*source, len(owners))
	for i, owner := range owners {
		if s, ok := byOwner[owner]; ok {
			s.read = nil
			sources[i] = s
			continue
		}
		file := statedir.Sidecar(owner)
		sources[i] = &source{owner: owner, file: file, path: filepath.Join(dir, file)}
	}
	return sources
}
