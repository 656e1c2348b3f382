package store

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/freehold-dev/freehold/sidecar/internal/pending"
)

// A Patch is one pending patch.
type Patch = pending.Patch

// A PendingFile is one file in the directory of an owner's pending patches. It
// never changes.
type PendingFile struct {
	Name string
	// Path is the absolute path.
	Path string
	// Patch is nil if no commit of this release can fold the file.
	Patch *Patch
	// Err is the reason for that, an [*Error] with the remedy.
	Err error

	text []byte
}

// Patches reads the pending patches of owner in the state with the manifest m,
// sorted by name, without a lock. It returns an error, and none of them, if the
// directory cannot be read or is flooded.
func (d *Store) Patches(m *schema.Manifest, owner string) ([]PendingFile, error) {
	return d.readPatches(m.StateID, owner, nil)
}

// readPatches is Patches for a process that has read the files known, sorted by
// name, before: equal bytes are not decoded again.
func (d *Store) readPatches(stateID, owner string, known []PendingFile) ([]PendingFile, error) {
	a, err := d.OpenPending(owner)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	names, err := a.Names()
	if err != nil || len(names) == 0 {
		return nil, err
	}
	files := make([]PendingFile, 0, len(names))
	for _, name := range names {
		var before *PendingFile
		if i, ok := slices.BinarySearchFunc(known, name, func(f PendingFile, name string) int { return strings.Compare(f.Name, name) }); ok {
			before = &known[i]
		}
		f, err := a.readPatch(stateID, name, before)
		if errors.Is(err, fs.ErrNotExist) {
			continue // a commit has folded it
		}
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// ReadPatch reads the patch called name in the state with the id stateID. It
// returns an error only if the file is gone, which wraps [fs.ErrNotExist], or if
// the directory is flooded, which wraps [ErrFlooded].
func (a *PendingDir) ReadPatch(stateID, name string) (PendingFile, error) {
	return a.readPatch(stateID, name, nil)
}

func (a *PendingDir) readPatch(stateID, name string, before *PendingFile) (PendingFile, error) {
	text, err := a.ReadFile(name, nil, pending.MaxSize)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, ErrFlooded):
		return PendingFile{}, err
	case err == nil && before != nil && before.text != nil && bytes.Equal(text, before.text):
		return *before, nil
	}
	f := PendingFile{Name: name, Path: a.Path(name), text: text}
	remedy := byHand("look at it and move it away")
	if err == nil {
		f.Patch, err = pending.Decode(text, name, a.owner, stateID)
	} else {
		err, remedy = fmt.Errorf("%w: %w", Unreadable, err), accessRemedy(err, remedy)
	}
	if err != nil {
		s := StatusOf(err)
		if s == Newer {
			remedy = byHand("fold it with the release that deferred it")
		}
		f.Err = &Error{Status: s, Path: f.Path, Owner: a.owner, Remedy: remedy, Err: err}
	}
	return f, nil
}

// patches are the pending patches of an owner as they were read last.
type patches struct {
	files []PendingFile
	err   error // why the directory could not be read
}

// look reads the directory and reports whether it differs from the last time.
func (p *patches) look(d *Store, stateID, owner string) (moved bool) {
	files, err := d.readPatches(stateID, owner, p.files)
	if err != nil {
		moved = p.err == nil || p.err.Error() != err.Error()
		p.files, p.err = nil, err
		return moved
	}
	moved = p.err != nil || !slices.EqualFunc(p.files, files, func(a, b PendingFile) bool {
		return a.Name == b.Name && bytes.Equal(a.text, b.text) && fmt.Sprint(a.Err) == fmt.Sprint(b.Err)
	})
	p.files, p.err = files, nil
	return moved
}

// fresh returns the patches that are not in doc yet, sorted by id.
func (p *patches) fresh(doc *document.Document) (fresh []*Patch) {
	for _, f := range p.files {
		if f.Patch != nil && !doc.HasFolded(f.Patch.ID) {
			fresh = append(fresh, f.Patch)
		}
	}
	return fresh
}

// bad returns the files that no commit can fold.
func (p *patches) bad() []PendingFile {
	return slices.DeleteFunc(slices.Clone(p.files), func(f PendingFile) bool { return f.Err == nil })
}

// drop leaves out those of the patches whose files are gone by now, and reports
// whether there are any.
func (p *patches) drop(d *Store, owner string, fresh []*Patch) (dropped bool, err error) {
	if len(fresh) == 0 {
		return false, nil
	}
	a, err := d.OpenPending(owner)
	if err != nil {
		return false, err
	}
	defer a.Close()
	names, err := a.Names()
	if err != nil {
		return false, err
	}
	there := len(p.files)
	p.files = slices.DeleteFunc(slices.Clone(p.files), func(f PendingFile) bool {
		_, found := slices.BinarySearch(names, f.Name)
		return !found && f.Patch != nil && slices.Contains(fresh, f.Patch)
	})
	return len(p.files) < there, nil
}

// fold folds pending patches into the owner, as a commit would. Of a sidecar
// that cannot be used none is folded, for nobody can say which ones it has.
func (o *Owner) fold(m *schema.Manifest, p *patches) {
	if p.err != nil {
		*o = Owner{Name: o.Name, Path: o.Path, text: o.text, sightings: o.sightings}
		o.unusable(Unreadable, RemedyOf(p.err), p.err)
		return
	}
	var errs []error
	o.BadPatches = p.bad()
	for _, f := range o.BadPatches {
		errs = append(errs, f.Err)
	}
	if o.Err != nil {
		o.Pending = len(p.files)
	} else {
		o.Patches = p.fresh(o.doc)
		o.Pending = len(o.Patches) + len(o.BadPatches)
	}
	if len(o.Patches) > 0 {
		whole, outs := pending.Overlay(m, o.Name, o.doc, o.Patches)
		for _, patch := range o.Patches {
			if err, out := outs[patch.ID]; out {
				errs = append(errs, WithRemedy(err, By(VerbFold, o.Name)))
			}
		}
		o.view = whole
	}
	o.PendingErr = errors.Join(errs...)
}
