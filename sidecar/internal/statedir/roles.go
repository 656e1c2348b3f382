package statedir

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/dir"
)

// A Role says which part of a state a name in its directory is.
type Role string

// The roles.
const (
	Stranger         Role = ""            // none of Freehold's
	StateFolder      Role = "state"       // the directory itself
	MetaFolder       Role = "meta"        // .freehold
	SidecarFile      Role = "sidecar"     // of a declared owner
	ManifestFile     Role = "manifest"    // of the state
	LockFile         Role = "lock"        // of the state or of an owner
	RecordFile       Role = "record"      // of a lease
	PendingFolder    Role = "pending"     // of an owner's pending patches
	PatchFile        Role = "patch"       // in it
	ClaimsFolder     Role = "claims"      // of all claims, or of an owner's
	ClaimedFile      Role = "claim"       // in it
	QuarantineFolder Role = "quarantine"  // of files that were moved out of the way
	QuarantinedFile  Role = "quarantined" // in it
	IDFile           Role = "id"          // of a directory
	StagedFile       Role = "staged"      // in the making, or left by a killed process
	UpgradeFolder    Role = "upgrade"     // of an upgrade that is not finished
)

// folder reports whether a directory has the role.
func (r Role) folder() bool {
	return slices.Contains([]Role{StateFolder, MetaFolder, PendingFolder, ClaimsFolder, QuarantineFolder}, r)
}

// A nameTable tells the names of Freehold's files in a state from others.
type nameTable struct {
	owners  []string // declared
	ever    []string // declared, or removed by an upgrade
	locks   map[string]uint64
	upgrade string // the directory of an upgrade that is not finished
}

// namesOf returns the names of m's state. An upgrade that removes an owner
// leaves its files in .freehold.
func namesOf(m *schema.Manifest) nameTable {
	n := nameTable{owners: m.Declaration.OwnerNames(), locks: m.Locks}
	for name := range m.Locks {
		if owner := lockOwner(name); name == OwnerLock(owner) {
			n.ever = append(n.ever, owner)
		}
	}
	slices.Sort(n.ever)
	if m.Pending != nil {
		n.upgrade = upgradePrefix + m.Pending.ID
	}
	return n
}

// lockOwner returns the owner of the lock file name; "" for the state's lock.
func lockOwner(name string) string {
	if name == stateLock {
		return ""
	}
	return strings.TrimSuffix(name, filepath.Ext(name))
}

// inState returns the role of a name in the state directory.
func (n *nameTable) inState(name string) (Role, string) {
	if name == metaName {
		return MetaFolder, ""
	}
	if leftover(name) {
		return StagedFile, ""
	}
	return ownerFile(n.owners, name, Sidecar, SidecarFile)
}

// inMeta returns the role of a name in .freehold.
func (n *nameTable) inMeta(name string) (Role, string) {
	_, lock := n.locks[name]
	switch _, upgrading := nonceAfter(upgradePrefix, name); {
	case lock:
		return LockFile, lockOwner(name)
	case name == n.upgrade:
		return UpgradeFolder, ""
	case name == manifestName:
		return ManifestFile, ""
	case stages(name, manifestName), upgrading:
		return StagedFile, ""
	case name == quarantineName:
		return QuarantineFolder, ""
	case name == claimsName:
		return ClaimsFolder, ""
	}
	if owner, ok := strings.CutSuffix(name, OwnerPending("")); ok && slices.Contains(n.ever, owner) {
		return PendingFolder, owner
	}
	return ownerFile(n.ever, name, OwnerRecord, RecordFile)
}

// inside returns the function that tells the roles in a directory of the role.
func (n *nameTable) inside(role Role, owner string) func(string) (Role, string) {
	in := map[Role]Role{PendingFolder: PatchFile, ClaimsFolder: ClaimedFile, QuarantineFolder: QuarantinedFile}[role]
	return func(name string) (Role, string) {
		switch {
		case role == ClaimsFolder && owner == "":
			if slices.Contains(n.ever, name) {
				return ClaimsFolder, name
			}
			return Stranger, ""
		case name == dir.IDName && role != QuarantineFolder:
			return IDFile, owner
		case stagedAlone(name):
			return StagedFile, owner
		}
		return in, owner
	}
}

// ownerFile returns the role of name if it is, or is staged as, the file of one
// of the owners.
func ownerFile(owners []string, name string, file func(owner string) string, role Role) (Role, string) {
	for _, owner := range owners {
		if name == file(owner) {
			return role, owner
		}
		if stages(name, file(owner)) {
			return StagedFile, owner
		}
	}
	return Stranger, ""
}

// lockOf returns the lock that the writer of a staged file holds, "" for that
// of the file itself.
func (n *nameTable) lockOf(name string, meta bool) string {
	if _, upgrade := nonceAfter(upgradePrefix, name); upgrade || stages(name, manifestName) {
		return stateLock
	}
	files, lock := Sidecar, OwnerLock
	if meta {
		files, lock = OwnerRecord, OwnerLease
	}
	if _, owner := ownerFile(n.ever, name, files, ""); owner != "" {
		return lock(owner)
	}
	return ""
}
