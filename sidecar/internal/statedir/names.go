package statedir

import (
	"github.com/freehold-dev/freehold/schema"
)

// Sidecar names the file of an owner.
func Sidecar(owner string) string { return owner + ".json" }

// OwnerLock names the lock that every commit of an owner holds.
func OwnerLock(owner string) string { return owner + commitLock }

const commitLock = ".lock"

// OwnerLease names the lock that the live process of an exclusive owner holds.
func OwnerLease(owner string) string { return owner + ".lease" }

// OwnerFence names the lock that keeps successors from the lease.
func OwnerFence(owner string) string { return owner + ".fence" }

// OwnerPending names the directory in .freehold of an owner's pending patches.
func OwnerPending(owner string) string { return owner + ".pending" }

// The bounds of reading one such directory: twice those of writers, since several
// may look for room at once.
const (
	MostPending      = 8192     // files
	MostPendingBytes = 16 << 20 // of them together
)

// ClaimFile names the file of a once field, relative to the state directory.
func ClaimFile(owner, field string) string { return claimDir(owner) + "/" + field }

func claimDir(owner string) string { return metaName + "/" + claimsName + "/" + owner }

const (
	// metaName is the directory of Freehold's own files in a state directory.
	metaName   = ".freehold"
	claimsName = "claims"
)

// OwnerRecord names the file in .freehold that describes the holder of a lease.
func OwnerRecord(owner string) string { return owner + ".lease.json" }

// Kept names the copy of a sidecar that the upgrade id leaves in the
// quarantine.
func Kept(owner, id string) string { return Sidecar(owner) + "." + id }

// Folders returns the directories, relative to the state directory, that a view
// reads.
func Folders(d *schema.Declaration) []string {
	folders := []string{".", metaName}
	for _, owner := range d.OwnerNames() {
		if d.Owners[owner].Claims() {
			folders = append(folders, claimDir(owner))
		}
		if d.Owners[owner].Defers() {
			folders = append(folders, metaName+"/"+OwnerPending(owner))
		}
	}
	return folders
}
