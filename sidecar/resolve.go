package sidecar

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/freehold-dev/freehold/sidecar/internal/failpoint"
	"github.com/freehold-dev/freehold/sidecar/internal/lease"
	"github.com/freehold-dev/freehold/sidecar/internal/pending"
	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// Resolve reports the end of the commit of version v after an error that wrapped
// [ErrIndeterminate]: [Applied], and durable now, or [NotApplied]. It takes the
// owner's lock, so that the answer stays true. It returns [store.Unknown] if so
// many commits followed that the sidecar has forgotten v.
//
// For a pending patch it takes no lock: [Deferred] if the patch still is
// pending, [Applied] if a commit has folded it, or [NotApplied] with an error
// that wraps [store.Rejected] if a commit has rejected it.
func Resolve(ctx context.Context, dir, owner string, v Version) (Outcome, error) {
	sd, err := statedir.Open(dir)
	if err != nil {
		return NotApplied, err
	}
	defer sd.Close()
	manifest, err := lease.Enter(ctx, sd, nil, owner, 0)
	if err != nil {
		return NotApplied, err
	}
	declared, ok := manifest.Declaration.Owners[owner]
	if !ok {
		return NotApplied, lease.Undeclared(sd, manifest, owner)
	}
	f := &file{site: site{dir: sd, path: filepath.Join(sd.Path(), statedir.Sidecar(owner)), manifest: manifest, owner: owner}}
	if v.IsPending() {
		return f.resolvePending(ctx, v)
	}
	lock, err := f.openLock(statedir.OwnerLock(owner))
	if err != nil {
		return NotApplied, err
	}
	defer lock.Close()
	if err := lock.Acquire(ctx, declared.EffectiveWait()); err != nil {
		return NotApplied, err
	}
	doc, err := f.read()
	if err != nil {
		return NotApplied, err
	}
	return f.resolve(doc, v)
}

func (f *file) resolve(doc *document.Document, v Version) (Outcome, error) {
	if doc.Remembers(v.Nonce) {
		return Applied, f.dir.Sync()
	}
	// The list goes back to v unless it began later, after a
	// quarantine, or is full and v is not one of the last.
	began := doc.Version.Epoch > v.Epoch && uint64(len(doc.Recent())) <= doc.Version.Revision
	last := doc.Version.Epoch < v.Epoch || doc.Version.Epoch == v.Epoch && doc.Version.Revision < v.Revision+document.SureRecent
	if last || len(doc.Recent()) < document.MaxRecent && !began {
		return NotApplied, nil
	}
	return NotApplied, fmt.Errorf("%s: %w: more than %d commits may have come after version %v, or the sidecar was moved aside since; look whether its changes are there", f.path, store.Unknown, document.SureRecent, v)
}

// resolvePending is Resolve for a patch. Its file is looked for first: it goes
// only when the sidecar has the patch.
func (f *file) resolvePending(ctx context.Context, v Version) (Outcome, error) {
	for ctx.Err() == nil {
		there, err := f.hasPending(v.Nonce)
		if err != nil {
			return NotApplied, err
		}
		doc, err := f.read()
		switch {
		case err != nil:
			return NotApplied, err
		case doc.HasFolded(v.Nonce) || doc.Remembers(v.Nonce):
			return Applied, f.dir.Sync()
		case !there:
			return f.gonePending(v)
		}
		failpoint.Hit(failpoint.ResolveRead)
		if there, err = f.hasPending(v.Nonce); err != nil || there {
			return Deferred, err
		}
		// A commit folded it between.
	}
	return NotApplied, fmt.Errorf("%s: %w", f.path, context.Cause(ctx))
}

func (f *file) gonePending(v Version) (Outcome, error) {
	why, err := f.dir.Quarantine().Reason(keptName(f.owner, v.Nonce))
	switch {
	case err == nil:
		return NotApplied, fmt.Errorf("%s: patch %s is %w: %s: look at it in .freehold/quarantine", f.path, v.Nonce, store.Rejected, why)
	case !errors.Is(err, fs.ErrNotExist):
		return NotApplied, err
	}
	return NotApplied, fmt.Errorf("%s: %w: patch %s is not deferred, and of those that were folded the sidecar remembers %d at most: look in a view whether what it changed is there", f.path, store.Unknown, v.Nonce, document.MaxRecent)
}

// hasPending reports whether the patch id is pending.
func (f *file) hasPending(id string) (bool, error) {
	a, err := f.dir.OpenPending(f.manifest, f.owner)
	if err != nil {
		return false, fmt.Errorf("%w: %w", store.Unreadable, err)
	}
	defer a.Close()
	p, err := a.ReadPatch(f.manifest.StateID, pending.Name(id))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("%w: %w", store.Unreadable, err)
	case errors.Is(p.Err, store.Unreadable):
		return false, p.Err
	}
	return p.Patch != nil, nil
}
