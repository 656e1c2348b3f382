//go:build unix

package store

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/schema"
)

// known is what the names in a state directory are judged by. All that is
// Freehold's there is named here, and nowhere else.
type known struct {
	owners []string // that are declared
	ever   []string // and those that were, until an upgrade removed them
	locks  map[string]uint64
}

// namesOf returns what is known of m's state. An upgrade that removes an owner
// moves its sidecar away, and leaves its lock files, which the manifest goes on
// to list, and what else there is in .freehold.
func namesOf(m *schema.Manifest) known {
	k := known{owners: m.Declaration.OwnerNames(), locks: m.Locks}
	for name := range m.Locks {
		if owner := lockOwner(name); name == OwnerLock(owner) {
			k.ever = append(k.ever, owner)
		}
	}
	slices.Sort(k.ever)
	return k
}

// lockOwner returns whose lock the file name is; none's if it is the state's.
func lockOwner(name string) string {
	if name == stateLock {
		return ""
	}
	return strings.TrimSuffix(name, filepath.Ext(name))
}

// inState judges a name in the state directory. It reports whether what is in it
// is to be judged too.
func (k *known) inState(name string, dir bool) (role Role, owner string, deeper bool) {
	switch {
	case name == metaName:
		return MetaFolder, "", false
	case leftover(name):
		return StagedFile, "", false
	}
	owner, ok := ownerOf(k.owners, name, Sidecar)
	switch {
	case !ok:
		return Stranger, "", false
	case name == Sidecar(owner):
		return SidecarFile, owner, false
	}
	return StagedFile, owner, false
}

// inMeta is inState for .freehold.
func (k *known) inMeta(name string, dir bool) (role Role, owner string, deeper bool) {
	_, lock := k.locks[name]
	switch _, upgrading := nonceAfter(upgradePrefix, name); {
	case lock:
		return LockFile, lockOwner(name), false
	case name == manifestName:
		return ManifestFile, "", false
	case stages(name, manifestName), upgrading:
		return StagedFile, "", false
	case name == quarantineName:
		return QuarantineFolder, "", dir
	case name == claimsName:
		return ClaimsFolder, "", dir
	}
	if owner, ok := ownerOf(k.ever, name, OwnerPending); ok && name == OwnerPending(owner) {
		return PendingFolder, owner, dir
	}
	owner, ok := ownerOf(k.ever, name, OwnerRecord)
	switch {
	case !ok:
		return Stranger, "", false
	case name == OwnerRecord(owner):
		return RecordFile, owner, false
	}
	return StagedFile, owner, false
}

// inside returns what judges the names in a directory of the role.
func (k *known) inside(role Role, owner string) func(string, bool) (Role, string, bool) {
	in := map[Role]Role{PendingFolder: PatchFile, ClaimsFolder: ClaimedFile, QuarantineFolder: QuarantinedFile}[role]
	return func(name string, dir bool) (Role, string, bool) {
		switch {
		case role == ClaimsFolder && owner == "":
			if slices.Contains(k.ever, name) {
				return ClaimsFolder, name, dir
			}
			return Stranger, "", false
		case stagedAlone(name):
			return StagedFile, owner, false
		}
		return in, owner, false
	}
}

// ownerOf returns which of the owners has a file called name, or staged as name.
func ownerOf(owners []string, name string, file func(owner string) string) (owner string, ok bool) {
	at := slices.IndexFunc(owners, func(owner string) bool { return name == file(owner) || stages(name, file(owner)) })
	if at < 0 {
		return "", false
	}
	return owners[at], true
}
