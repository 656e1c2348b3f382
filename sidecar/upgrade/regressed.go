package upgrade

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/document"
)

// inCausalOrder returns the owners before and after, dependents before what
// they depend on: what one of them has observed is then in what is read later,
// also beside processes that commit, as a dry run is.
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

// unregressed refuses an upgrade where a sidecar is older than an earlier upgrade
// wrote it or somebody in the state has observed it, or gone. Written anew it would
// be of a new epoch, and so pass for one that its people have accepted.
func (p *plan) unregressed() error {
	behind := p.behind
	for _, owner := range p.old.OwnerNames() {
		if made := sidecar.Upgraded(p.manifest, owner); p.stored[owner] != nil && p.stored[owner].Behind(made) {
			behind[owner] = p.regressed(owner, document.Sighting{Version: made})
		}
	}
	for _, owner := range p.owners() {
		if p.stored[owner] == nil { // it could not be read, which is said
			continue
		}
		for s := range p.stored[owner].Sightings() {
			whose, ok := p.old.OwnerOf(s.Of)
			if ok && behind[whose] == nil && p.stored[whose] != nil && p.stored[whose].Behind(s.Version) {
				behind[whose] = p.regressed(whose, s)
			}
		}
	}
	var errs []error
	for _, owner := range slices.Sorted(maps.Keys(behind)) {
		errs = append(errs, behind[owner])
	}
	return errors.Join(errs...)
}

func (p *plan) regressed(owner string, seen document.Sighting) error {
	file, version := p.sidecarPath(owner), p.stored[owner].Version
	if version == (document.Version{}) {
		return fmt.Errorf("%s: %w: it is gone, and %v: nothing was changed; bring it back, or run %s to go on without it, then upgrade",
			file, sidecar.ErrRegressed, seen, p.command("accept", owner))
	}
	return fmt.Errorf("%s: %w: it is at version %v, and %v: an older copy was put back; nothing was changed; bring the newer one back, or run %s to go on from the old one, then upgrade",
		file, sidecar.ErrRegressed, version, seen, p.command("accept", owner))
}
