package upgrade

import (
	"fmt"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// nonePending refuses an upgrade while pending patches that could not be taken
// in: they speak of the fields as they are. A dry run knows which those would be.
func (p *plan) nonePending() error {
	for _, owner := range p.setters() {
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

// staying returns how many patches of owner stay deferred.
func (p *plan) staying(owner string) (int, error) {
	if p.options.DryRun {
		return p.stay[owner], nil
	}
	names, err := p.patchNames(owner)
	return len(names), err
}

// claimsStay refuses another name, owner or kind for a once field. A claim is a
// file of its own that says which field of whom it is, and a shared owner's is
// made without a lock: while it moved, the field could be won a second time.
// The claims of a once field that is removed stay where they are, and hold again
// if the field comes back.
func (p *plan) claimsStay() error {
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
