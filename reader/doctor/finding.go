package doctor

import (
	"cmp"
	"slices"
)

// A Finding is something that is wrong with a state.
type Finding struct {
	Code Code `json:"code"`
	// Path of the file or directory, absolute.
	Path string `json:"path"`
	// Instance, Owner and Field that it is about, where it is about one.
	Instance string `json:"instance,omitempty"`
	Owner    string `json:"owner,omitempty"`
	Field    string `json:"field,omitempty"`
	// Says is what is wrong, in a sentence.
	Says string `json:"says"`
	// Remedy is what to do: a command for a shell, as it stands, if Command
	// says so, and else words.
	Remedy  string `json:"remedy"`
	Command bool   `json:"command"`
	// Advice is what to think of before that, or could be done instead. It may
	// be empty.
	Advice string `json:"advice,omitempty"`
}

// Code names a kind of finding. Codes keep their meaning from release to
// release.
type Code string

// The codes.
const (
	// The state directory as a whole.
	DirectoryUnsafe   Code = "directory-unsafe"    // it, or one above it, is another user's, or others may write there
	NetworkFileSystem Code = "network-file-system" // on which locks do not reach everybody
	StateUnreadable   Code = "state-unreadable"    // it, or part of it, cannot be opened or read
	ManifestInvalid   Code = "manifest-invalid"    // missing, or none
	Misplaced         Code = "misplaced"           // the directory of an instance holds another one
	UpgradeUnfinished Code = "upgrade-unfinished"  // nobody commits until it is
	StateCopied       Code = "state-copied"        // all locks are others: it was copied or restored to where it is
	LockLost          Code = "lock-lost"           // missing, or another file
	ClaimsLost        Code = "claims-lost"         // the directory is missing, or another one
	PendingLost       Code = "pending-lost"        // the directory of pending patches is
	// Owners and fields.
	SidecarInvalid    Code = "sidecar-invalid"
	SidecarNewer      Code = "sidecar-newer" // of a format that this release does not read
	SidecarForeign    Code = "sidecar-foreign"
	SidecarUnreadable Code = "sidecar-unreadable"
	SidecarRegressed  Code = "sidecar-regressed"  // older than something that observed it or an upgrade wrote it, or gone since
	SidecarUndeclared Code = "sidecar-undeclared" // of an owner that nobody declares
	ClaimInvalid      Code = "claim-invalid"
	ClaimForeign      Code = "claim-foreign"
	ClaimUnreadable   Code = "claim-unreadable"
	FieldInvalid      Code = "field-invalid" // it does not fit its declaration
	Attributes        Code = "attributes"    // that the next commit loses
	// pending patches.
	PatchStuck     Code = "patch-stuck"     // it cannot be folded
	PendingWaiting Code = "pending-waiting" // patches could be folded, and nobody does
	PendingFull    Code = "pending-full"    // hardly any more can be deferred
	PatchKept      Code = "patch-kept"      // it was rejected, in the quarantine
	// A legacy file that the state was adopted from.
	LegacyOpen  Code = "legacy-open"  // values that no owner has yet
	LegacyMoved Code = "legacy-moved" // values that somebody changed since
	LegacyBad   Code = "legacy-bad"   // it cannot be adopted
	// Leases and locks.
	LeaseRecord    Code = "lease-record"    // the record is damaged
	LeaseGone      Code = "lease-gone"      // it names a holder that is no more
	LeaseDisagrees Code = "lease-disagrees" // it names another than the kernel does
	LeaseStopped   Code = "lease-stopped"   // the holder does not run
	FenceShut      Code = "fence-shut"      // by a process that does not run
	LockStopped    Code = "lock-stopped"    // its holder does not run, so that nobody else gets it
	// Files.
	Litter      Code = "litter"       // what a killed process left
	Twin        Code = "twin"         // a name that differs from Freehold's in case alone
	Unknown     Code = "unknown"      // something in .freehold that is not Freehold's
	Irregular   Code = "irregular"    // a link, a pipe or the like in the place of a file
	OtherUser   Code = "other-user"   // a file of somebody else
	OthersWrite Code = "others-write" // a file or directory that others may write in
	Decoy       Code = "decoy"        // another state further up or down
	Copy        Code = "copy"         // the same state twice
	// Instances and declarations.
	InstanceOdd            Code = "instance-odd"            // the directory of an instance, or beside them, that cannot be used
	InstancesStale         Code = "instances-stale"         // nobody has written them for long
	DeclarationContradicts Code = "declaration-contradicts" // the manifest
)

// A Note is something worth knowing that is not wrong.
type Note struct {
	// About is a stable word for what it is about.
	About string `json:"about"`
	// Instance that it is about, if it is about one.
	Instance string `json:"instance,omitempty"`
	// Says is what there is to know.
	Says string `json:"says"`
}

// A Report is what [Examine] found.
type Report struct {
	// Dir is the absolute path of what was looked at: a state, or the
	// directory that holds its instances.
	Dir string `json:"dir"`
	// State is its name; empty if that cannot be read.
	State string `json:"state,omitempty"`
	// Findings in the order of their paths.
	Findings []Finding `json:"findings"`
	Notes    []Note    `json:"notes"`
}

// Sort puts the findings in their order, which is that of a report.
func (r *Report) Sort() {
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Field, b.Field))
	})
}
