package store

import (
	"errors"
	"slices"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/freehold-dev/freehold/sidecar/internal/pending"
	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
	"github.com/freehold-dev/freehold/sidecar/internal/status"
)

// patches are the pending patches of an owner as they were read last.
type patches struct {
	files []statedir.PendingFile
	err   error // why the directory could not be read
}

// look reads the directory and reports whether it differs from the last time.
func (p *patches) look(d *statedir.Dir, m *schema.Manifest, owner string) (moved bool) {
	files, err := d.ReadPatches(m, owner, p.files)
	if err != nil {
		moved = p.err == nil || p.err.Error() != err.Error()
		p.files, p.err = nil, err
		return moved
	}
	moved = p.err != nil || !slices.EqualFunc(p.files, files, statedir.PendingFile.Same)
	p.files, p.err = files, nil
	return moved
}

// fresh returns the patches that are not in doc yet, sorted by id.
func (p *patches) fresh(doc *document.Document) (fresh []*pending.Patch) {
	for _, f := range p.files {
		if f.Patch != nil && !doc.HasFolded(f.Patch.ID) {
			fresh = append(fresh, f.Patch)
		}
	}
	return fresh
}

// bad returns the files that no commit can fold.
func (p *patches) bad() []statedir.PendingFile {
	return slices.DeleteFunc(slices.Clone(p.files), func(f statedir.PendingFile) bool { return f.Err == nil })
}

// drop leaves out the patches that are gone by now, and reports whether there
// are any.
func (p *patches) drop(d *statedir.Dir, m *schema.Manifest, owner string, fresh []*pending.Patch) (dropped bool, err error) {
	if len(fresh) == 0 {
		return false, nil
	}
	a, err := d.OpenPending(m, owner)
	if err != nil {
		return false, err
	}
	defer a.Close()
	names, err := a.Names()
	if err != nil {
		return false, err
	}
	there := len(p.files)
	p.files = slices.DeleteFunc(slices.Clone(p.files), func(f statedir.PendingFile) bool {
		_, found := slices.BinarySearch(names, f.Name)
		return !found && f.Patch != nil && slices.Contains(fresh, f.Patch)
	})
	return len(p.files) < there, nil
}

// fold folds pending patches into the owner, unless its sidecar cannot be used
// and does not tell which ones it has.
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
				errs = append(errs, WithRemedy(err, By(status.Fold, o.Name)))
			}
		}
		o.view = whole
	}
	o.PendingErr = errors.Join(errs...)
}
