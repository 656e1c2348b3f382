package upgrade

import (
	"errors"
	"fmt"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// previewFold folds the pending patches of owner in memory, for a dry run. It
// notes the patches that would stay: all of them if the sidecar is unusable or
// an upgrade is unfinished.
func (p *plan) previewFold(owner string) {
	o := p.sidecars[owner]
	if o == nil || o.Pending == 0 {
		return
	}
	if o.Err != nil || p.run.pending != nil {
		p.stay[owner] = o.Pending
		return
	}
	folded := len(o.Patches)
	for _, err := range pendingErrors(o) {
		switch {
		case errors.Is(err, schema.ErrOverflow): // the whole patch would be rejected
			folded--
		default:
			p.stay[owner]++
		}
		p.run.notes = append(p.run.notes, err)
	}
	folded -= p.stay[owner] - len(o.BadPatches)
	if folded == 0 {
		return
	}
	whole := o.View()
	if o.Status == store.Missing {
		whole = whole.Clone()
		whole.Commit(document.Version{Epoch: 1, Revision: 1, Nonce: process.NewNonce()}, p.at, document.Writer{Program: p.options.Program, Identity: process.Self()})
	}
	raw, err := whole.Encode()
	if err != nil { // the sidecar would be too large
		p.stay[owner] += folded
		return
	}
	p.stored[owner], p.raw[owner] = whole, raw
	p.report.noteFolded(owner, folded)
}

// pendingErrors returns the errors of the patches of o that are not in its
// fields.
func pendingErrors(o *store.Owner) []error {
	if joined, ok := o.PendingErr.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	return nil
}

// checkNonePending reports pending patches that could not be folded. They refer
// to the fields before the upgrade.
func (p *plan) checkNonePending() error {
	for _, owner := range p.deferring() {
		stay, err := p.staying(owner)
		if err != nil {
			return err
		}
		if stay > 0 {
			return &store.Error{Status: store.Busy, Path: p.dir.Path(), Owner: owner, Remedy: store.By(store.VerbFold, owner), Err: fmt.Errorf("owner %s has pending patches (%d) to its fields before the upgrade", owner, stay)}
		}
	}
	return nil
}

// staying returns the number of patches of owner that stay deferred.
func (p *plan) staying(owner string) (int, error) {
	if p.options.DryRun {
		return p.stay[owner], nil
	}
	names, err := p.patchNames(owner)
	return len(names), err
}
