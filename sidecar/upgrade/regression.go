package upgrade

import (
	"errors"
	"slices"

	"github.com/freehold-dev/freehold/sidecar/store"
)

// inCausalOrder returns the owners before and after the upgrade, dependents
// first. An observation then precedes the read of the sidecar it is about, even
// beside processes that commit, as in a dry run.
func (p *plan) inCausalOrder() []string {
	var order []string
	var visit func(owner string)
	visit = func(owner string) {
		if slices.Contains(order, owner) {
			return
		}
		for _, below := range p.old.OwnersBelow(owner) { // there are no circles
			visit(below)
		}
		order = append(order, owner)
	}
	for _, owner := range p.owners() {
		visit(owner)
	}
	slices.Reverse(order)
	return order
}

// checkRegressions reports sidecars that are missing, or older than an earlier
// upgrade or an observation. Rewritten, with a new epoch, such a sidecar would
// pass for an accepted one.
func (p *plan) checkRegressions() error {
	against := func(owner string, seen store.Sighting) {
		if o := p.sidecars[owner]; o != nil {
			p.sidecars[owner] = o.Against(seen)
		}
	}
	for _, owner := range p.old.OwnerNames() {
		against(owner, store.Sighting{Version: store.Upgraded(p.manifest, owner)})
	}
	for _, owner := range p.owners() {
		o := p.sidecars[owner]
		if o == nil { // it is dropped
			continue
		}
		for s := range o.Sightings() {
			if whose, ok := p.old.OwnerOf(s.Of); ok {
				against(whose, s)
			}
		}
	}
	var errs []error
	for _, owner := range p.owners() {
		if o := p.sidecars[owner]; o != nil && o.Status == store.Regressed {
			errs = append(errs, o.Err)
		}
	}
	return errors.Join(errs...)
}
