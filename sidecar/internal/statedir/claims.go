package statedir

import (
	"errors"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/claims"
	"github.com/freehold-dev/freehold/sidecar/internal/status"
)

// A Claim is the file of a once field, to be made or to be read: it is complete
// or absent, has one name and never changes.
type Claim = claims.Claim

// Claim returns the claim of a field of owner, for whose directory of claims
// the manifest gives the inode number ino.
func (d *Dir) Claim(owner, field string, ino uint64) *Claim {
	return claims.New(d.state.Dir, claimDir(owner), ino, field)
}

// makeClaims makes the directories of claims that m's declaration needs and
// lacks. Like a lock file, none is ever made anew on the fly: its claims would
// be open again. The caller syncs .freehold.
func (d *Dir) makeClaims(m *schema.Manifest) error {
	for _, owner := range m.Declaration.OwnerNames() {
		if _, ok := m.Claims[owner]; ok || !m.Declaration.Owners[owner].Claims() {
			continue
		}
		ino, err := claims.MakeDir(d.meta.Dir, claimsName, owner)
		if err != nil {
			return err
		}
		if m.Claims == nil {
			m.Claims = map[string]uint64{}
		}
		m.Claims[owner] = ino
	}
	return nil
}

// lostClaims returns the owners whose directory of claims is not the one of the
// manifest.
func (d *Dir) lostClaims(m *schema.Manifest) (owners []string) {
	for _, owner := range m.Declaration.OwnerNames() {
		if m.Declaration.Owners[owner].Claims() && errors.Is(d.Claim(owner, "", m.Claims[owner]).Check(), status.Lost) {
			owners = append(owners, owner)
		}
	}
	return owners
}
