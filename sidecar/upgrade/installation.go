package upgrade

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
	"github.com/freehold-dev/freehold/sidecar/internal/status"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// apply executes a plan. Nothing has changed until the manifest is replaced;
// everything that needs disk space is written before.
func (r *run) apply(p *plan) error {
	m := *r.manifest
	m.Replace(r.next)
	text, err := m.Marshal()
	if err != nil {
		return err
	}
	idle := len(p.pending.Sidecars)+len(p.pending.Dropped) == 0
	same := idle && bytes.Equal(text, r.manifest.Text)
	if r.options.DryRun {
		if r.refused == nil && (!same || r.resumed != nil || len(r.folded) > 0) {
			r.refused = r.dir.Writable()
		}
		return nil
	}
	if same {
		return nil
	}
	if !idle {
		files, err := p.files()
		if err != nil {
			return err
		}
		if err := r.dir.Staged(p.pending.ID).Write(files); err != nil {
			return unchanged(err)
		}
		m.Pending = p.pending
		if m.Upgraded == nil {
			m.Upgraded = map[string]string{}
		}
		for owner, doc := range p.made {
			m.Upgraded[owner] = doc.Version.String()
		}
	}
	if err := r.dir.WriteManifest(&m); err != nil {
		return r.undecided(&m, err)
	}
	if r.manifest = &m; idle {
		return nil
	}
	return r.finish()
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
	again := store.By(status.Upgrade).Or(store.RemedyOf(err).Note)
	return store.WithRemedy(fmt.Errorf("nothing was changed: %w", err), again)
}

// unfinished returns err as that of an upgrade that has taken effect.
func (r *run) unfinished(err error) error {
	again := store.By(status.Upgrade).Or(store.RemedyOf(err).Note)
	return &store.Error{Status: store.Indeterminate, Path: r.dir.Path(), Remedy: again, Err: fmt.Errorf("the upgrade has taken effect and is not finished: %w", err)}
}

// finish installs the remaining sidecars of an upgrade that has taken effect.
// A dry run only reports whether that would work.
func (r *run) finish() error {
	m, p := *r.manifest, r.manifest.Pending
	m.Upgraded = maps.Clone(m.Upgraded)
	var gone []string
	for _, owner := range p.Sidecars {
		there, err := r.there(p, owner)
		if err != nil {
			return r.unfinished(err)
		}
		if !there { // it was moved away
			delete(m.Upgraded, owner)
			gone = append(gone, owner)
		}
	}
	m.Pending = nil
	if !r.options.DryRun {
		if err := r.install(p, gone, &m); err != nil {
			return r.unfinished(err)
		}
		_ = r.dir.Unstage() // empty now; the next upgrade removes it if this fails
	}
	r.manifest, r.resumed = &m, p
	return nil
}

// there reports whether the new sidecar of owner is staged or installed; a damaged
// one passes, since readers report it. An old one in its place is an error: the
// declaration no longer describes it.
func (r *run) there(p *schema.Pending, owner string) (bool, error) {
	name := statedir.Sidecar(owner)
	_, err := r.dir.Staged(p.ID).Read(name, nil, document.MaxSize)
	staged := err == nil || errors.Is(err, statedir.ErrTooLarge)
	if !staged && !errors.Is(err, fs.ErrNotExist) {
		return false, inTheWay(err)
	}
	raw, err := r.dir.ReadFile(name, nil, document.MaxSize)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return staged, nil
	case errors.Is(err, statedir.ErrIrregular):
		return false, inTheWay(err)
	case staged, errors.Is(err, statedir.ErrTooLarge):
		return true, nil
	case err != nil:
		return false, err
	}
	doc, err := document.DecodeForeign(raw)
	if err != nil || doc.Version.Epoch >= p.Epoch {
		return true, nil
	}
	err = fmt.Errorf("%w: the new sidecar of owner %s is gone and the old one in its place", store.Unreadable, owner)
	note := fmt.Sprintf("put %s back, or move %s away to go on with neither", r.dir.Staged(p.ID).Path(name), r.sidecarPath(owner))
	return false, store.WithRemedy(err, store.Remedy{Note: note})
}

func inTheWay(err error) error {
	if errors.Is(err, statedir.ErrIrregular) {
		return store.WithRemedy(err, store.Remedy{Note: "move it away"})
	}
	return err
}

// install moves the files of the upgrade p to their places, then writes the
// manifest m. The lock files of owners without a sidecar, which may come again,
// tell of no version any more.
func (r *run) install(p *schema.Pending, gone []string, m *schema.Manifest) error {
	for _, owner := range p.Kept {
		if err := r.dir.Staged(p.ID).Install(statedir.Kept(owner, p.ID), true); err != nil {
			return err
		}
	}
	for _, owner := range p.Sidecars {
		if err := r.dir.Staged(p.ID).Install(statedir.Sidecar(owner), false); err != nil {
			return err
		}
	}
	for _, owner := range p.Dropped {
		if err := r.dir.Quarantine().Drop(statedir.Sidecar(owner), statedir.Kept(owner, p.ID)); err != nil {
			return err
		}
	}
	for _, owner := range slices.Concat(gone, p.Dropped) {
		if err := statedir.WitnessOf(r.dir, m, owner).Blank(); err != nil {
			return err
		}
	}
	return r.dir.WriteManifest(m)
}

func (r *run) keep(p *schema.Pending) {
	for _, owner := range slices.Sorted(slices.Values(slices.Concat(p.Kept, p.Dropped))) {
		kept := Kept{Owner: owner}
		if !r.options.DryRun {
			kept.Path = r.dir.Quarantine().Path(statedir.Kept(owner, p.ID))
		}
		r.report.Kept = append(r.report.Kept, kept)
	}
}
