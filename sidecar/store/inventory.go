package store

import (
	"io/fs"
	"time"
)

// A Role says what a name in a state directory is to Freehold.
type Role string

// The roles.
const (
	Stranger         Role = ""            // none of Freehold's
	StateFolder      Role = "state"       // the directory itself
	MetaFolder       Role = "meta"        // .freehold
	SidecarFile      Role = "sidecar"     // of a declared owner
	ManifestFile     Role = "manifest"    // or what says that there are instances
	LockFile         Role = "lock"        // of the state or of an owner
	RecordFile       Role = "record"      // of a lease
	PendingFolder    Role = "pending"     // of an owner's pending patches
	PatchFile        Role = "patch"       // in it
	ClaimsFolder     Role = "claims"      // of all claims, or of an owner's
	ClaimedFile      Role = "claim"       // in it
	QuarantineFolder Role = "quarantine"  // of what was moved out of the way
	QuarantinedFile  Role = "quarantined" // in it
	StagedFile       Role = "staged"      // in the making, or left by a killed process
)

// A Found is a name in a state directory, and what the system says of it.
type Found struct {
	// Name relative to the state directory.
	Name string
	Role Role
	// Owner whose it is, if it is an owner's.
	Owner string
	// Type in words: "file", "directory", "symbolic link".
	Type string
	// Mode has the permission bits.
	Mode fs.FileMode
	UID  int
	// Links is how many names a file has.
	Links int
	Size  int64
	// Written is when it was written last, by its file system.
	Written time.Time
	// Attributes are the extended attributes, access lists among them, that
	// a file loses when a commit replaces it.
	Attributes []string
}

// A Loss is a file or a directory of a state that is missing or is another one
// than was made with it.
type Loss struct {
	// Name relative to the state directory.
	Name string
	Role Role
	// Owner whose it is, if it is an owner's.
	Owner string
	// Err says what is wrong and what to do.
	Err error
}
