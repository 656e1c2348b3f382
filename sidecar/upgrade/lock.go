package upgrade

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// lock takes every lock of the state, and keeps everybody from setting a patch
// pending, until release is called. Pending patches before is folded then, as
// far as it can be: those who deferred without pause would leave no moment at
// which nothing is.
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
	if full := r.full(); len(full) > 0 && m.Pending == nil {
		unlock()
		r.foldPending(ctx, full)
		if r.manifest, unlock, err = r.dir.LockAll(ctx, r.options.Wait); err != nil {
			unseal()
			return nil, err
		}
		if !bytes.Equal(r.manifest.Text, m.Text) { // somebody else may deferred now
			unseal()
			unlock()
			return r.lock(ctx)
		}
	}
	return func() { unseal(); unlock() }, nil
}

// seal keeps everybody from setting a patch pending until release is called. Who
// does so has no lock of the owner's, and would put it where a former owner's
// are, for nobody to fold.
func (r *run) seal(ctx context.Context) (release func(), err error) {
	var sealed []*store.PendingDir
	release = func() {
		for _, pending := range sealed {
			pending.Unshare()
			pending.Close()
		}
	}
	for _, owner := range r.setters() {
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

// setters returns the owners of the state that defer.
func (r *run) setters() []string {
	d := &r.manifest.Declaration
	return slices.DeleteFunc(d.OwnerNames(), func(owner string) bool { return !d.Owners[owner].Defers() })
}

// full returns the owners that have pending patches.
func (r *run) full() (owners []string) {
	for _, owner := range r.setters() {
		if names, err := r.patchNames(owner); err == nil && len(names) > 0 {
			owners = append(owners, owner)
		}
	}
	return owners
}

// pending returns the names of the pending patches of owner.
func (r *run) patchNames(owner string) ([]string, error) {
	pending, err := r.dir.OpenPending(owner)
	if err != nil {
		return nil, err
	}
	defer pending.Close()
	return pending.Names()
}

// foldPending folds the pending patches of owners. nonePending reports those that
// remain.
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

// noteFolded notes how many patches of an owner were folded.
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
