package upgrade

import (
	"errors"
	"io/fs"
	"slices"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/document"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
)

// A pile is what an owner has deferred, as a dry run finds it.
type pile struct {
	names   []string
	patches []*sidecar.PendingPatch
	stay    int   // how many of them would stay there
	err     error // why it could not be read
}

// findPile lists and reads the pending patches of owner. That comes before its
// sidecar is read: what a commit folds meanwhile is in that then.
func (p *plan) findPile(owner string) {
	if !p.old.Owners[owner].Defers() {
		return
	}
	found := &pile{}
	p.piles[owner] = found
	pending, err := p.dir.OpenPending(owner)
	if err != nil {
		found.err = err
		return
	}
	defer pending.Close()
	if found.names, found.err = pending.Names(); found.err != nil {
		return
	}
	for _, name := range found.names {
		raw, err := pending.ReadFile(name, nil, sidecar.MaxPatch)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var patch *sidecar.PendingPatch
		if err == nil {
			patch, err = sidecar.DecodePendingPatch(raw, name, owner, p.manifest.StateID)
		}
		if err != nil {
			found.stay++
			p.run.notes = append(p.run.notes, err)
			continue
		}
		found.patches = append(found.patches, patch)
	}
}

// confirmPile leaves out what is in the sidecar of owner already. A patch that is
// gone by now was folded, perhaps before the sidecar was read and so long ago that
// it says no more of it: then it is read again.
func (p *plan) confirmPile(owner string) error {
	found := p.piles[owner]
	for found != nil && found.err == nil && len(found.patches) > 0 {
		doc := p.stored[owner]
		if doc == nil {
			return nil
		}
		folded := doc.Folded()
		found.patches = slices.DeleteFunc(found.patches, func(patch *sidecar.PendingPatch) bool {
			return slices.Contains(folded, patch.ID)
		})
		names, err := p.patchNames(owner)
		if err != nil {
			found.err = err
			return nil
		}
		there := len(found.patches)
		found.patches = slices.DeleteFunc(found.patches, func(patch *sidecar.PendingPatch) bool { return !slices.Contains(names, sidecar.PatchName(patch.ID)) })
		if len(found.patches) == there {
			return nil
		}
		if err := p.readSidecar(owner); err != nil {
			return err
		}
	}
	return nil
}

// takePile takes the pending patches of owner into its sidecar, as a commit would
// before the upgrade. Of a sidecar that cannot be used, or while an upgrade is to
// be finished, none would be.
func (p *plan) takePile(owner string, found *pile) {
	doc := p.stored[owner]
	if doc == nil || p.behind[owner] != nil || p.run.pending != nil {
		found.stay = len(found.names)
		return
	}
	if len(found.patches) == 0 {
		return
	}
	whole, outs := sidecar.Overlay(p.manifest, owner, doc, found.patches)
	taken := len(found.patches)
	for _, patch := range found.patches {
		err := outs[patch.ID]
		switch {
		case err == nil:
			continue
		case errors.Is(err, schema.ErrOverflow): // it would be rejected as a whole
			taken--
		case !errors.Is(err, sidecar.ErrConflict):
			taken--
			found.stay++
		}
		p.run.notes = append(p.run.notes, err)
	}
	if doc.Version.IsZero() {
		whole.Commit(document.Version{Epoch: 1, Revision: 1, Nonce: process.NewNonce()}, p.at, document.Writer{Program: p.options.Program, Identity: process.Self()})
	}
	raw, err := whole.Encode()
	if err != nil { // there is no room
		found.stay += taken
		return
	}
	p.stored[owner], p.raw[owner] = whole, raw
	p.report.takenIn(owner, taken)
}
