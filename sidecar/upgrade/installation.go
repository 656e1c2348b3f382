package upgrade

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// apply executes a plan. Nothing has changed until the manifest is replaced;
// everything that needs disk space is written before.
func (r *run) apply(p *plan) error {
	m := *r.manifest
	m.Replace(r.next)
	if p.nothing() {
		if len(r.report.Changes) == 0 && !r.reworded() {
			return nil
		}
		if err := r.dir.WriteManifest(&m); err != nil { // the only step
			return r.undecided(&m, err)
		}
		return nil
	}
	files, err := p.files()
	if err != nil {
		return err
	}
	if err := r.dir.Stage(p.pending.ID, files); err != nil {
		return unchanged(err)
	}
	m.Pending, m.Upgraded = p.pending, p.upgraded(m.Upgraded)
	if err := r.dir.WriteManifest(&m); err != nil {
		return r.undecided(&m, err)
	}
	r.manifest = &m
	return r.finish(p.pending)
}

// reworded reports whether only docs, units or names in code differ.
func (r *run) reworded() bool {
	before := schema.Manifest{Declaration: r.manifest.Declaration}
	after := schema.Manifest{Declaration: *r.next}
	x, err1 := before.Marshal()
	y, err2 := after.Marshal()
	return err1 != nil || err2 != nil || !slices.Equal(x, y)
}

// undecided returns the error of replacing the manifest by m. Its meaning
// depends on whether the manifest was replaced all the same.
func (r *run) undecided(m *schema.Manifest, err error) error {
	now, readErr := r.dir.Manifest()
	if readErr != nil || bytes.Equal(now.Text, m.Text) {
		return r.unfinished(err)
	}
	return unchanged(errors.Join(err, r.dir.Unstage()))
}

// unchanged returns err as that of an upgrade without effect.
func unchanged(err error) error {
	again := store.By(store.VerbUpgrade).Or(store.RemedyOf(err).Note)
	return store.WithRemedy(fmt.Errorf("nothing was changed: %w", err), again)
}

// finish installs the remaining sidecars of an upgrade that has taken effect.
func (r *run) finish(p *schema.Pending) error {
	m := *r.manifest
	m.Upgraded = maps.Clone(m.Upgraded)
	if err := r.install(&m); err != nil {
		return r.unfinished(err)
	}
	m.Pending = nil
	if err := r.dir.WriteManifest(&m); err != nil {
		return r.unfinished(err)
	}
	r.manifest = &m
	return nil
}

// install moves the files of m's pending upgrade, and removes from m.Upgraded
// the sidecars that were moved away meanwhile.
func (r *run) install(m *schema.Manifest) error {
	p := m.Pending
	for _, owner := range p.Kept {
		if err := r.dir.Install(p.ID, store.Kept(owner, p.ID), true); err != nil {
			return err
		}
	}
	for _, owner := range p.Sidecars {
		if err := r.dir.Install(p.ID, store.Sidecar(owner), false); err != nil {
			return err
		}
		there, err := r.installed(p, owner)
		if err != nil {
			return err
		}
		if !there {
			delete(m.Upgraded, owner)
		}
	}
	for _, owner := range p.Dropped {
		if err := r.dir.Drop(store.Sidecar(owner), store.Kept(owner, p.ID)); err != nil {
			return err
		}
	}
	return nil
}

// installed reports whether owner has a sidecar in its place. It returns an
// error if that is an old one, which must not come back unnoticed: the
// declaration no longer describes it. A damaged one passes, since readers
// report it.
func (r *run) installed(p *schema.Pending, owner string) (there bool, err error) {
	raw, err := r.dir.ReadFile(store.Sidecar(owner), nil, document.MaxSize)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if errors.Is(err, store.ErrTooLarge) { // damaged: readers report it
		return true, nil
	}
	if err != nil {
		return false, err
	}
	doc, err := document.DecodeForeign(raw)
	if err != nil || doc.Version.Epoch >= p.Epoch {
		return true, nil
	}
	err = fmt.Errorf("%w: the new sidecar of owner %s is gone and the old one in its place", sidecar.ErrUnreadable, owner)
	note := fmt.Sprintf("put %s back, or move %s away to go on with neither", r.dir.StagedPath(p.ID, store.Sidecar(owner)), r.sidecarPath(owner))
	return false, store.WithRemedy(err, store.Remedy{Note: note})
}

// finished reports an upgrade that an earlier Run began.
func (r *run) finished(p *schema.Pending) {
	r.report.Resumed = true
	r.report.State = r.manifest.Declaration.State
	r.keep(p)
}

// keep reports the copies that an upgrade leaves in the quarantine.
func (r *run) keep(p *schema.Pending) {
	for _, owner := range slices.Sorted(slices.Values(slices.Concat(p.Kept, p.Dropped))) {
		kept := Kept{Owner: owner}
		if !r.options.DryRun {
			kept.Path = r.dir.QuarantinePath(store.Kept(owner, p.ID))
		}
		r.report.Kept = append(r.report.Kept, kept)
	}
}
