package upgrade

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// lock takes every lock of the state and blocks deferring, until release is
// called. It folds pending patches then, as far as possible: processes that
// defer without pause would never leave a moment without any.
func (r *run) lock(ctx context.Context) (release func(), err error) {
	m, unlock, err := r.dir.LockAll(ctx, r.options.Wait)
	if err != nil {
		return nil, err
	}
	r.manifest = m
	unseal, err := r.seal(ctx)
	if err != nil {
		unlock()
		return nil, err
	}
	if owners := r.withPatches(); len(owners) > 0 && m.Pending == nil {
		unlock()
		r.foldPending(ctx, owners)
		if r.manifest, unlock, err = r.dir.LockAll(ctx, r.options.Wait); err != nil {
			unseal()
			return nil, err
		}
		if !bytes.Equal(r.manifest.Text, m.Text) { // other owners may defer now
			unseal()
			unlock()
			return r.lock(ctx)
		}
	}
	return func() { unseal(); unlock() }, nil
}

// seal blocks deferring until release is called. A deferring process holds no
// owner's lock, and could leave a patch for an owner that is gone.
func (r *run) seal(ctx context.Context) (release func(), err error) {
	var sealed []*store.PendingDir
	release = func() {
		for _, pending := range sealed {
			pending.Unshare()
			pending.Close()
		}
	}
	for _, owner := range r.deferring() {
		pending, err := r.dir.OpenPending(owner)
		if err == nil {
			sealed = append(sealed, pending)
			err = pending.Seal(ctx, r.options.Wait)
		}
		if err != nil {
			release()
			return nil, err
		}
	}
	return release, nil
}

// deferring returns the owners that may defer.
func (r *run) deferring() []string {
	d := &r.manifest.Declaration
	return slices.DeleteFunc(d.OwnerNames(), func(owner string) bool { return !d.Owners[owner].Defers() })
}

// withPatches returns the owners with pending patches.
func (r *run) withPatches() (owners []string) {
	for _, owner := range r.deferring() {
		if names, err := r.patchNames(owner); err == nil && len(names) > 0 {
			owners = append(owners, owner)
		}
	}
	return owners
}

// patchNames returns the names of the pending patches of owner.
func (r *run) patchNames(owner string) ([]string, error) {
	pending, err := r.dir.OpenPending(owner)
	if err != nil {
		return nil, err
	}
	defer pending.Close()
	return pending.Names()
}

// foldPending commits all pending patches of the given owners. checkNonePending
// reports those that remain.
func (r *run) foldPending(ctx context.Context, owners []string) {
	o := &sidecar.Options{Program: r.options.Program, Wait: r.options.Wait, Clock: r.options.Clock, Notice: r.options.Notice}
	for _, owner := range owners {
		w, err := sidecar.Open(ctx, r.dir.Path(), nil, owner, o)
		if err != nil {
			continue
		}
		c, _ := w.Fold(ctx, -1)
		w.Close()
		r.report.noteFolded(owner, c.Folded)
	}
}

// noteFolded adds folded patches of an owner to the report.
func (r *Report) noteFolded(owner string, patches int) {
	if patches == 0 {
		return
	}
	i, found := slices.BinarySearchFunc(r.Folded, owner, func(t Folded, owner string) int { return strings.Compare(t.Owner, owner) })
	if !found {
		r.Folded = slices.Insert(r.Folded, i, Folded{Owner: owner})
	}
	r.Folded[i].Patches += patches
}
