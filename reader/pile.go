package reader

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/document"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// A pile is what processes of one owner have deferred, as it was read last.
type pile struct {
	dir     *store.Store
	owner   string
	stateID string
	files   []pendingFile // sorted by name
	err     error         // why it could not be read
}

// An pendingFile is one file of a pile. Nobody changes it, so that what it was
// found to be stays true for its bytes.
type pendingFile struct {
	name  string
	text  []byte
	patch *sidecar.PendingPatch
	err   error // why it is no patch that can be folded
}

// afterPile is called by tests after each reading of a pile.
var afterPile func()

// rechecked is whether a reader makes sure that what it counts was still set
// pending after it read the sidecar. A test takes that out, to see that another
// one notices.
var rechecked = true

// collect reads the pile and reports whether it moved.
func (p *pile) collect() (moved bool) {
	files, err := p.list()
	if err != nil {
		moved = p.err == nil || p.err.Error() != err.Error()
		p.files, p.err = nil, err
		return moved
	}
	moved = p.err != nil || !slices.EqualFunc(p.files, files, func(a, b pendingFile) bool {
		return a.name == b.name && bytes.Equal(a.text, b.text) && fmt.Sprint(a.err) == fmt.Sprint(b.err)
	})
	p.files, p.err = files, nil
	return moved
}

func (p *pile) list() ([]pendingFile, error) {
	a, err := p.dir.OpenPending(p.owner)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	names, err := a.Names()
	if err != nil || len(names) == 0 {
		return nil, err
	}
	files := make([]pendingFile, 0, len(names))
	for _, name := range names {
		text, err := a.ReadFile(name, nil, sidecar.MaxPatch)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it was folded: it might as well not have been listed
		}
		if errors.Is(err, store.ErrFlooded) {
			return nil, err
		}
		if i, known := p.find(name); known && err == nil && p.files[i].text != nil && bytes.Equal(text, p.files[i].text) {
			files = append(files, p.files[i])
			continue
		}
		f := pendingFile{name: name, text: text}
		if err == nil {
			f.patch, err = sidecar.DecodePendingPatch(text, name, p.owner, p.stateID)
		} else {
			err = fmt.Errorf("%w: look at it and move it away", err)
		}
		if err != nil {
			f.err = fmt.Errorf("%s: %w", a.Path(name), err)
		}
		files = append(files, f)
	}
	return files, nil
}

func (p *pile) find(name string) (int, bool) {
	return slices.BinarySearchFunc(p.files, name, func(f pendingFile, name string) int { return strings.Compare(f.name, name) })
}

// counted returns the patches that are not in doc yet, sorted by id, as their
// files are.
func (p *pile) counted(doc *document.Document) (patches []*sidecar.PendingPatch) {
	folded := map[string]bool{}
	for _, id := range doc.Folded() {
		folded[id] = true
	}
	for _, f := range p.files {
		if f.patch != nil && !folded[f.patch.ID] {
			patches = append(patches, f.patch)
		}
	}
	return patches
}

// errs returns what is wrong with files of the pile.
func (p *pile) errs() (errs []error) {
	for _, f := range p.files {
		if f.err != nil {
			errs = append(errs, f.err)
		}
	}
	return errs
}

// confirm makes sure of what a single pass has read: that each patch which
// counts, since the sidecar does not list it, was still deferred afterwards.
// Else it was folded, and by now perhaps so long ago that the sidecar has
// dropped its id, before the sidecar was read; so that is read again.
func (s *source) confirm() (moved bool) {
	if s.pile == nil || !rechecked {
		return false
	}
	for {
		doc, err := document.Decode(s.text)
		if s.err != nil || err != nil {
			doc = document.New(s.owner, "")
		}
		gone, err := s.pile.gone(s.pile.counted(doc))
		if err != nil {
			s.pile.files, s.pile.err, s.read = nil, err, nil
			return true
		}
		if len(gone) == 0 {
			return moved
		}
		s.pile.files = slices.DeleteFunc(slices.Clone(s.pile.files), func(f pendingFile) bool { return gone[f.name] })
		s.content.collect()
		s.read, moved = nil, true
	}
}

// gone returns those of patches whose files are not there any more.
func (p *pile) gone(patches []*sidecar.PendingPatch) (map[string]bool, error) {
	if len(patches) == 0 {
		return nil, nil
	}
	a, err := p.dir.OpenPending(p.owner)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	names, err := a.Names()
	if err != nil {
		return nil, err
	}
	gone := map[string]bool{}
	for _, patch := range patches {
		if _, ok := slices.BinarySearch(names, sidecar.PatchName(patch.ID)); !ok {
			gone[sidecar.PatchName(patch.ID)] = true
		}
	}
	return gone, nil
}

// overlay puts pending patches on top of what the sidecar has.
func (o *owner) overlay(p *pile, d *declared, dir string) {
	switch {
	case p == nil:
		return
	case p.err != nil:
		o.bad(Unreadable, fmt.Errorf("%w: %w", sidecar.ErrUnreadable, p.err))
		o.Version, o.WrittenAt, o.doc = sidecar.Version{}, time.Time{}, nil
		return
	case o.Err != nil: // which of them it has, nobody can say
		o.Pending, o.PendingErr = len(p.files), errors.Join(p.errs()...)
		return
	}
	doc := o.doc
	if doc == nil {
		doc = document.New(o.Name, d.stateID)
	}
	patches, errs := p.counted(doc), p.errs()
	o.Pending = len(patches) + len(errs)
	if len(patches) > 0 {
		whole, outs := sidecar.Overlay(d.manifest(), o.Name, doc, patches)
		for _, patch := range patches {
			if err, out := outs[patch.ID]; out {
				errs = append(errs, err)
			}
		}
		o.doc, o.patches = whole, patches
	}
	o.PendingErr = errors.Join(errs...)
}

// appendPile appends a line about pending patches.
func (o *owner) appendPile(dst []byte, p *pile) []byte {
	if p == nil || o.Pending == 0 {
		return dst
	}
	dst = append(append(append(dst, '\n'), o.Name...), " pending"...)
	for _, patch := range o.patches {
		dst = append(append(dst, ' '), patch.ID...)
	}
	for _, f := range p.files {
		if f.err != nil {
			dst = append(append(dst, ' '), f.name...)
		}
	}
	return dst
}
