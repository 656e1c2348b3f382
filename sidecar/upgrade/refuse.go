package upgrade

import (
	"fmt"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// checkNonePending reports pending patches that could not be folded. They refer
// to the fields before the upgrade.
func (p *plan) checkNonePending() error {
	for _, owner := range p.deferring() {
		stay, err := p.staying(owner)
		if err != nil {
			return err
		}
		if stay > 0 {
			return &store.Error{Status: store.Busy, Path: p.dir.Path(), Owner: owner, Remedy: store.By(store.VerbFold, owner), Err: fmt.Errorf("owner %s has pending patches (%d), which speak of its fields before the upgrade", owner, stay)}
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

// checkClaims reports a once field with a new name, owner or kind. A claim is a
// file that names its field and owner, and a shared owner claims without a
// lock: during a move the field could be won twice. The claims of a removed
// once field stay, and hold again if it comes back.
func (p *plan) checkClaims() error {
	for _, owner := range p.run.next.OwnerNames() {
		for _, field := range p.run.next.Owners[owner].FieldNames() {
			o, ok := p.old.Origin(p.run.next, owner, field)
			if !ok {
				continue
			}
			before := p.old.Owners[o.Owner].Fields[o.Field].EffectiveKind() == schema.Once
			now := p.run.next.Owners[owner].Fields[field].EffectiveKind() == schema.Once
			if before != now || now && o != (schema.Origin{Owner: owner, Field: field}) {
				return fmt.Errorf("%s: %w: field %s of owner %s was field %s of owner %s, and a once field keeps its name, its owner and its kind, since it could be won twice otherwise: declare a new one beside it, without \"was\"",
					p.dir.Path(), schema.ErrDeclaration, field, owner, o.Field, o.Owner)
			}
		}
	}
	return nil
}
