package upgrade

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
	"github.com/freehold-dev/freehold/sidecar/internal/status"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// lock takes every lock of the state and blocks deferring, until release is
// called. It folds pending patches then, as far as possible: processes that
// defer without pause would never leave a moment without any. A dry run neither
// blocks deferring nor folds.
func (r *run) lock(ctx context.Context) (release func(), err error) {
	m, unlock, err := r.dir.LockAll(ctx, r.options.Wait)
	if err != nil {
		return nil, err
	}
	if r.manifest = m; r.options.DryRun {
		return unlock, nil
	}
	unseal, err := r.seal(ctx)
	if err != nil {
		unlock()
		return nil, err
	}
	release = func() { unseal(); unlock() }
	patches, err := r.patches()
	if err != nil {
		release()
		return nil, err
	}
	if len(patches) == 0 || m.Pending != nil {
		return release, nil
	}
	unlock()
	r.fold(ctx, slices.Sorted(maps.Keys(patches)))
	if r.manifest, unlock, err = r.dir.LockAll(ctx, r.options.Wait); err != nil {
		unseal()
		return nil, err
	}
	if bytes.Equal(r.manifest.Text, m.Text) {
		return release, nil
	}
	release() // other owners may defer now
	return r.lock(ctx)
}

// seal blocks deferring until release is called. A deferring process holds no
// owner's lock, and could leave a patch for an owner that is gone.
func (r *run) seal(ctx context.Context) (release func(), err error) {
	var sealed []*statedir.PendingDir
	release = func() {
		for _, pending := range sealed {
			pending.Unshare()
			pending.Close()
		}
	}
	for _, owner := range r.deferring() {
		pending, err := r.dir.OpenPending(r.manifest, owner)
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

func (r *run) deferring() []string {
	d := &r.manifest.Declaration
	return slices.DeleteFunc(d.OwnerNames(), func(owner string) bool { return !d.Owners[owner].Defers() })
}

// patches counts the pending patches, by owner.
func (r *run) patches() (map[string]int, error) {
	counts := map[string]int{}
	for _, owner := range r.deferring() {
		pending, err := r.dir.OpenPending(r.manifest, owner)
		if err != nil {
			return nil, err
		}
		names, err := pending.Names()
		pending.Close()
		if err != nil {
			return nil, err
		}
		if len(names) > 0 {
			counts[owner] = len(names)
		}
	}
	return counts, nil
}

// fold commits all pending patches of the given owners. checkNonePending
// reports those that remain.
func (r *run) fold(ctx context.Context, owners []string) {
	o := &sidecar.Options{Program: r.options.Program, Wait: r.options.Wait, Clock: r.options.Clock, Notice: r.options.Notice}
	for _, owner := range owners {
		w, err := sidecar.Open(ctx, r.dir.Path(), nil, owner, o)
		if err != nil {
			continue
		}
		c, _ := w.Fold(ctx, -1)
		w.Close()
		r.folded[owner] += c.Folded
	}
}

// preview folds the pending patches of o in memory, for a dry run, and counts
// the patches that would stay.
func (p *plan) preview(o *store.Owner) (view *document.Document, stay int) {
	if o.Pending == 0 || o.Err != nil || p.resumed != nil {
		return o.Document(), o.Pending
	}
	rejected := 0
	if joined, ok := o.PendingErr.(interface{ Unwrap() []error }); ok {
		for _, err := range joined.Unwrap() {
			if errors.Is(err, schema.ErrOverflow) { // a commit rejects the patch
				rejected++
			} else {
				stay++
			}
			if p.options.Notice != nil {
				p.options.Notice(err)
			}
		}
	}
	view = o.View().Clone()
	if o.Status == store.Missing {
		view.Commit(document.Version{Epoch: 1, Revision: 1, Nonce: process.NewNonce()}, p.at, document.Writer{Program: p.options.Program, Identity: process.Self()})
	}
	folded := o.Pending - stay - rejected
	if _, err := view.Encode(); folded == 0 || err != nil { // the sidecar would be too large
		return o.Document(), stay + folded
	}
	p.folded[o.Name] = folded
	return view, stay
}

// checkNonePending reports pending patches that could not be folded. They refer
// to the fields before the upgrade.
func (p *plan) checkNonePending() (err error) {
	stay := p.stay
	if !p.options.DryRun {
		if stay, err = p.patches(); err != nil {
			return err
		}
	}
	for _, owner := range slices.Sorted(maps.Keys(stay)) {
		if n := stay[owner]; n > 0 {
			err := fmt.Errorf("owner %s has pending patches (%d) to its fields before the upgrade", owner, n)
			return &store.Error{Status: store.Busy, Path: p.dir.Path(), Owner: owner, Remedy: store.By(status.Fold, owner), Err: err}
		}
	}
	return nil
}
