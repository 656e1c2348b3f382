package sidecar

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/freehold-dev/freehold/sidecar/document"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// ErrUnknown is returned by [Resolve] if the sidecar no longer shows what
// became of a commit.
var ErrUnknown = errors.New("unknown")

// Resolve says what became of the commit of version v after an error that
// wrapped [ErrIndeterminate]: [Applied], and it is durable now, or
// [NotApplied]. It takes the owner's lock, so that the answer stays true. It
// returns [ErrUnknown] if so many commits followed that the sidecar has
// forgotten v.
//
// Of a pending patch it says, without a lock, whether it still is:
// [Deferred], or [Applied] if a commit has taken it in, or [NotApplied] with an
// error that wraps [ErrRejected] if it could not be folded whole.
func Resolve(ctx context.Context, dir, owner string, v Version) (Outcome, error) {
	sd, err := store.Open(dir)
	if err != nil {
		return NotApplied, err
	}
	defer sd.Close()
	manifest, err := enter(ctx, sd, nil, owner, 0)
	if err != nil {
		return NotApplied, err
	}
	declared, ok := manifest.Declaration.Owners[owner]
	if !ok {
		return NotApplied, undeclared(sd, manifest, owner)
	}
	w := &Writer{dir: sd, path: filepath.Join(sd.Path(), store.Sidecar(owner)), manifest: manifest, owner: owner, declared: declared}
	if v.IsPending() {
		return w.resolvePending(ctx, v)
	}
	if w.lock, err = w.openLock(store.OwnerLock(owner)); err != nil {
		return NotApplied, err
	}
	defer w.lock.Close()
	if err := w.lock.Acquire(ctx, w.declared.EffectiveWait()); err != nil {
		return NotApplied, err
	}
	doc, err := w.read()
	if err != nil {
		return NotApplied, err
	}
	return w.resolve(doc, v)
}

func (w *Writer) resolve(doc *document.Document, v Version) (Outcome, error) {
	if doc.Remembers(v.Nonce) {
		return Applied, w.dir.Sync()
	}
	// What the list holds goes back to v unless it began later, after a
	// quarantine, or is full and v is not one of the last.
	began := doc.Version.Epoch > v.Epoch && uint64(len(doc.Recent())) <= doc.Version.Revision
	last := doc.Version.Epoch < v.Epoch || doc.Version.Epoch == v.Epoch && doc.Version.Revision < v.Revision+document.SureRecent
	if last || len(doc.Recent()) < document.MaxRecent && !began {
		return NotApplied, nil
	}
	return NotApplied, fmt.Errorf("%s: %w: more than %d commits may have come after version %v, or the sidecar was moved aside since; look whether what it changed is there", w.file(), ErrUnknown, document.SureRecent, v)
}

// resolvePending is Resolve for a patch. Its file is looked for first: it goes
// only when the sidecar has the patch.
func (w *Writer) resolvePending(ctx context.Context, v Version) (Outcome, error) {
	for ctx.Err() == nil {
		_, there, err := w.findPending(v.Nonce)
		if err != nil {
			return NotApplied, err
		}
		doc, err := w.read()
		switch {
		case err != nil:
			return NotApplied, err
		case doc.HasFolded(v.Nonce) || doc.Remembers(v.Nonce):
			return w.takenIn(v)
		case !there:
			return w.gonePending(v)
		}
		p, there, err := w.findPending(v.Nonce)
		switch {
		case err != nil:
			return NotApplied, err
		case there && doc.HasPassed(p.Number):
			return NotApplied, nil
		case there:
			return Deferred, nil
		}
		// It was folded between.
	}
	return NotApplied, fmt.Errorf("%s: %w", w.file(), context.Cause(ctx))
}

// takenIn answers for a patch that the sidecar has, all of it or a part.
func (w *Writer) takenIn(v Version) (Outcome, error) {
	if why, err := w.dir.Kept(keptName(w.owner, v.Nonce)); err == nil {
		return Applied, fmt.Errorf("%s: a part of patch %s is %w: %s: look at it in .freehold/quarantine", w.file(), v.Nonce, ErrRejected, why)
	}
	return Applied, w.dir.Sync()
}

func (w *Writer) gonePending(v Version) (Outcome, error) {
	why, err := w.dir.Kept(keptName(w.owner, v.Nonce))
	switch {
	case err == nil:
		return NotApplied, fmt.Errorf("%s: patch %s is %w: %s: look at it in .freehold/quarantine", w.file(), v.Nonce, ErrRejected, why)
	case !errors.Is(err, fs.ErrNotExist):
		return NotApplied, err
	}
	return NotApplied, fmt.Errorf("%s: %w: patch %s is not deferred, and of those that were folded the sidecar remembers %d at most: look in a view whether what it changed is there", w.file(), ErrUnknown, v.Nonce, document.MaxRecent)
}

// findPending returns the patch with the id, if it is deferred.
func (w *Writer) findPending(id string) (p *PendingPatch, there bool, err error) {
	a, err := w.dir.OpenPending(w.owner)
	if err != nil {
		return nil, false, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	defer a.Close()
	names, err := a.Names()
	if err != nil {
		return nil, false, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	for _, name := range names {
		raw, err := a.ReadFile(name, nil, MaxPatch)
		if errors.Is(err, store.ErrFlooded) {
			return nil, false, fmt.Errorf("%w: %w", ErrUnreadable, err)
		}
		if err != nil {
			continue // gone, or none that this release has deferred
		}
		if p, err := DecodePendingPatch(raw, name, w.owner, w.manifest.StateID); err == nil && p.ID == id {
			return p, true, nil
		}
	}
	return nil, false, nil
}
