package store

import (
	"bytes"
	"errors"
	"io/fs"
	"slices"
	"sync"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/freehold-dev/freehold/sidecar/internal/failpoint"
	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
)

// A Source reads one owner again and again. It decodes the sidecar only if the
// bytes have changed, since a replaced file may have its old inode number and
// time. It is safe for concurrent use.
type Source struct {
	dir  *Store
	name string

	mu       sync.Mutex
	manifest *schema.Manifest
	// upgrade is the id of an unfinished upgrade that has staged a sidecar of this
	// owner, which counts as long as it is there; or empty.
	upgrade string
	staged  bool // whether that one was read last
	memory
	witness *statedir.Witness
	line    statedir.WitnessLine // as it was read last, before the sidecar
	scratch statedir.WitnessLine
	id      statedir.Identity // of the sidecar when it was looked at last
	atRest  bool
	reached Version  // by the line
	folded  bool     // pending patches are read too
	patches *patches // of an owner that defers; else nil
	plain   *Owner   // as the bytes are, whatever the witness says; nil until it is wanted
	owner   *Owner   // plain, judged by the version judged; nil until it is wanted
	judged  Version
}

// A Source reads one owner again and again. It decodes the sidecar only if the
// bytes have changed, since a replaced file may have its old inode number and
// time. It is safe for concurrent use.
func (d *Store) Source(m *schema.Manifest, name string) *Source {
	s := &Source{dir: d, name: name}
	s.Follow(m)
	return s
}

// FoldedSource returns a source that also reads and folds the pending patches
// of an owner that defers.
func (d *Store) FoldedSource(m *schema.Manifest, name string) *Source {
	s := &Source{dir: d, name: name, folded: true}
	s.Follow(m)
	return s
}

// Follow makes the source judge the file by the manifest m.
func (s *Source) Follow(m *schema.Manifest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.manifest, s.plain, s.owner, s.upgrade = m, nil, nil, ""
	s.id = statedir.Identity{}
	s.witness = statedir.WitnessOf(s.dir.dir, m, s.name)
	if m.Pending != nil && slices.Contains(m.Pending.Sidecars, s.name) {
		s.upgrade = m.Pending.ID
	}
	switch {
	case !s.folded || !m.Declaration.Owners[s.name].Defers():
		s.patches = nil
	case s.patches == nil:
		s.patches = new(patches)
	}
}

// Look reads the pending patches and then the sidecar, since a patch that
// vanishes in between is in the sidecar. It reports whether either differs from
// the last time. Without a difference and a patch, it allocates nothing.
func (s *Source) Look() (moved bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.patches != nil {
		moved = s.patches.look(s.dir.dir, s.manifest, s.name)
		if failpoint.PatchesRead != nil {
			failpoint.PatchesRead()
		}
	}
	if moved {
		s.plain, s.owner = nil, nil
	}
	id, atRest := statedir.IdentityOf(s.dir.dir, statedir.Sidecar(s.name), time.Now())
	if !id.IsZero() && id == s.id && (s.atRest || !atRest && s.unchanged()) {
		return moved // no commit since, as far as can be told now: the witness tells the same
	}
	if s.observe() || !s.unchanged() {
		moved = s.lookAgain() || moved
	}
	if s.id, s.atRest = id, atRest; !s.known || s.upgrade != "" {
		s.id = statedir.Identity{}
	}
	return moved
}

// observe reads the witness and reports whether it differs from the last time.
func (s *Source) observe() (moved bool) {
	if s.witness.Read(&s.scratch); s.scratch == s.line {
		return false
	}
	was := s.reached
	s.line, s.reached = s.scratch, s.scratch.Newest()
	return s.reached != was
}

// lookAgain reads the sidecar after the witness. A sidecar that is behind the
// witness counts only if a second reading, in that order, finds the same.
func (s *Source) lookAgain() (moved bool) {
	before := s.owner
	moved = s.look()
	now := s.judge()
	if now.Status == Regressed {
		s.observe()
		moved = s.look() || moved
		now = s.judge()
	}
	return moved || before != nil && before.Status != now.Status
}

// unchanged reports whether the file is as it was read last, without a copy.
func (s *Source) unchanged() (same bool) {
	switch {
	case s.upgrade != "":
		return false
	case s.known:
		same, s.spare = s.dir.dir.Same(statedir.Sidecar(s.name), s.text, s.spare)
		return same
	}
	return errors.Is(s.err, fs.ErrNotExist) && s.dir.dir.Absent(statedir.Sidecar(s.name))
}

// Confirm makes sure, after a Look, that each patch which is not in the sidecar
// was still pending when the sidecar was read. Else a commit has folded the
// patch, and Confirm reads the sidecar again, which may have dropped its id. It
// reports whether a byte has changed. A caller that looks until nothing changes
// need not confirm.
func (s *Source) Confirm() (moved bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.patches != nil {
		doc := s.judge().doc
		if doc == nil {
			doc = document.New(s.name, s.manifest.StateID)
		}
		dropped, err := s.patches.drop(s.dir.dir, s.manifest, s.name, s.patches.fresh(doc))
		if err != nil {
			s.patches.files, s.patches.err, s.plain, s.owner = nil, err, nil, nil
			return true
		}
		if !dropped {
			break
		}
		s.look()
		s.plain, s.owner, moved = nil, nil, true
	}
	return moved
}

// Owner returns the owner as the file was read last: the same one until the
// bytes change, unless it cannot be used, since the remedy may depend on other
// files.
func (s *Source) Owner() *Owner {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.known && s.err == nil {
		s.observe()
		s.lookAgain()
	}
	return s.judge()
}

// Read reads the file, once, and returns the owner.
func (s *Source) Read() *Owner {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.observe()
	s.lookAgain()
	return s.judge()
}

// Wrote tells the source that doc was written as text. The caller changes
// neither any more, and may use buffer for the next text.
func (s *Source) Wrote(doc *document.Document, text []byte) (buffer []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	buffer, s.text, s.known, s.err = s.text, text, true, nil
	s.plain = (&Owner{Name: s.name, Path: s.dir.sidecarPath(s.name), text: text}).whole(doc)
	s.owner, s.judged = s.plain, Version{}
	return buffer
}

func (s *Source) look() (moved bool) {
	s.id = statedir.Identity{}
	text, err := s.read()
	if moved = s.update(text, err); moved {
		s.plain, s.owner = nil, nil
	}
	return moved
}

func (s *Source) read() (text []byte, err error) {
	if s.upgrade != "" {
		text, err = s.dir.dir.Staged(s.upgrade).Read(statedir.Sidecar(s.name), s.spare, document.MaxSize)
		if s.staged = !errors.Is(err, fs.ErrNotExist); s.staged {
			return text, err
		} // it has gone to its place
	}
	s.staged = false
	return s.dir.dir.ReadFile(statedir.Sidecar(s.name), s.spare, document.MaxSize)
}

func (s *Source) judge() *Owner {
	if s.plain == nil || s.plain.Err != nil {
		path := s.dir.sidecarPath(s.name)
		if s.staged {
			path = s.dir.dir.Staged(s.upgrade).Path(statedir.Sidecar(s.name))
		}
		s.plain, s.owner = s.dir.newOwner(s.manifest, s.name, path, s.text, s.err), nil
		if s.patches != nil {
			s.plain.fold(s.manifest, s.patches)
		}
	}
	if s.owner == nil || s.judged != s.reached {
		s.owner, s.judged = s.plain.Against(Sighting{Version: s.reached, Witness: true}), s.reached
	}
	return s.owner
}

// A memory holds the bytes of a file as it was read last.
type memory struct {
	text  []byte
	spare []byte // for the next read
	known bool   // text is the file
	err   error  // why it could not be read
}

// update remembers the outcome of a read into spare, and reports whether it
// differs from the last one.
func (m *memory) update(text []byte, err error) (moved bool) {
	if err == nil {
		return m.take(text)
	}
	if m.err != nil && sameError(m.err, err) {
		return false
	}
	// The former bytes are dropped, so that two readers agree on any past.
	m.err, m.known, m.text = err, false, m.text[:0]
	return true
}

func (m *memory) take(text []byte) (moved bool) {
	if m.known && bytes.Equal(m.text, text) {
		m.spare = text
		return false
	}
	m.text, m.spare, m.known, m.err = text, m.text, true, nil
	return true
}

// sameError reports whether two reads failed alike.
func sameError(a, b error) bool {
	if errors.Is(a, fs.ErrNotExist) {
		return errors.Is(b, fs.ErrNotExist)
	}
	return a.Error() == b.Error()
}
