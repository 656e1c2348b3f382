package upgrade

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// dry reports the expected results and obstacles of an upgrade.
func (r *run) dry(ctx context.Context) (*Report, error) {
	report, err := r.foresee()
	if r.manifest == nil {
		return nil, err
	}
	for _, note := range r.notes {
		if r.options.Notice != nil {
			r.options.Notice(note)
		}
	}
	r.waits(&r.manifest.Declaration)
	refused := r.dir.Obstructed(ctx, r.manifest, r.options.Wait)
	if err == nil && refused == nil && (report.Resumed || len(report.Folded)+len(report.Changes) > 0 || r.reworded()) {
		refused = r.dir.Writable()
	}
	if refused != nil {
		// A real run meets the locks first.
		err = errors.Join(fmt.Errorf("would be refused: %w", refused), err)
	}
	return report, err
}

// foresee plans without locks, anew if another upgrade intervened.
func (r *run) foresee() (*Report, error) {
	for {
		m, err := r.dir.Manifest()
		if err != nil {
			return nil, err
		}
		r.manifest, r.pending, r.notes = m, m.Pending, nil
		r.report = &Report{Dir: r.dir.Path()}
		report, err := r.foreseeFrom(m)
		if now, lost := r.dir.ManifestText(nil); lost != nil || bytes.Equal(now, m.Text) {
			return report, err
		}
	}
}

// foreseeFrom plans from the manifest m. An unfinished upgrade is finished
// first.
func (r *run) foreseeFrom(m *schema.Manifest) (*Report, error) {
	var resumed *Report
	if m.Pending != nil {
		if err := r.foreseeFinish(m); err != nil {
			return nil, err
		}
		r.finished(m.Pending)
		report := *r.report
		resumed = &report
	}
	if _, err := r.plan(); err != nil {
		return resumed, err
	}
	return r.report, nil
}

// foreseeFinish assumes that the upgrade pending in m was finished.
func (r *run) foreseeFinish(m *schema.Manifest) error {
	after := *m
	after.Pending, after.Upgraded = nil, maps.Clone(m.Upgraded)
	for _, owner := range m.Pending.Sidecars {
		if there, err := r.installable(m.Pending, owner); err != nil {
			return r.unfinished(err)
		} else if !there {
			delete(after.Upgraded, owner)
		}
	}
	r.manifest = &after
	return nil
}

// installable reports whether the sidecar of owner would be in place after p is
// finished.
func (r *run) installable(p *schema.Pending, owner string) (bool, error) {
	name := store.Sidecar(owner)
	_, err := r.dir.ReadStaged(p.ID, name, nil, document.MaxSize)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return r.installed(p, owner)
	case errors.Is(err, store.ErrIrregular):
		return false, store.WithRemedy(err, store.Remedy{Note: "move it away"})
	}
	if _, err := r.dir.Existing(name); errors.Is(err, store.ErrIrregular) {
		return false, store.WithRemedy(err, store.Remedy{Note: "move it away"})
	}
	return true, nil
}
