package prune

import (
	"slices"
	"time"

	"github.com/freehold-dev/freehold/sidecar/store"
)

// A Report lists the results of [Run].
type Report struct {
	// Dir is the directory of the instances, or the state.
	Dir string
	// DryRun reports that nothing was removed.
	DryRun bool
	// Items in the order of their paths.
	Items []Item
}

// An Item is one instance, or one leftover of a killed process.
type Item struct {
	Kind Kind `json:"kind"`
	// Path of the directory or the file.
	Path string `json:"path"`
	// Instance is the id, if there is one.
	Instance string `json:"instance,omitempty"`
	Action   Action `json:"action"`
	Reason   Reason `json:"reason"`
	// Says is the reason in words.
	Says string `json:"says"`
	// Remedy of the reason, if there is one.
	Remedy store.Remedy `json:"-"`
	// Newest is the newest date in an instance; zero if unknown.
	Newest time.Time `json:"newest,omitzero"`
}

// Kind is the kind of an Item.
type Kind string

// The kinds of Item.
const (
	Instance Kind = "instance" // a directory that has an instance's name
	Litter   Kind = "litter"   // a leftover of a killed process
	Other    Kind = "other"    // something beside the instances
)

// Action is the result for an Item.
type Action string

// The actions.
const (
	Removed     Action = "removed"
	WouldRemove Action = "would remove" // in a dry run
	Kept        Action = "kept"
	Failed      Action = "failed" // the removal failed
)

// Reason is a stable code for the cause of an Action.
type Reason string

// The reasons.
const (
	Old      Reason = "old"             // ended, and older than asked
	Left     Reason = "left"            // a leftover of a killed process
	Young    Reason = "young"           // ended, and not as old as asked
	Busy     Reason = "busy"            // a process has it open, or holds one of its locks
	Active   Reason = "active"          // it was written during the inspection
	Future   Reason = "future"          // dated later than now
	Foreign  Reason = "foreign"         // files in it are not Freehold's
	Damaged  Reason = "damaged"         // it cannot be read
	Unsafe   Reason = "unsafe"          // it belongs to, or is writable by, another user
	NotOurs  Reason = "not an instance" // and so left alone
	IOFailed Reason = "failed"          // input or output
)

// wants are the reasons that time alone does not mend.
var wants = []Reason{Future, Foreign, Damaged, Unsafe, IOFailed}

// WantsALook reports whether the item stays until a person acts.
func (i Item) WantsALook() bool { return slices.Contains(wants, i.Reason) }

// Counts returns the number of items for each action and reason.
func (r *Report) Counts() map[Action]map[Reason]int {
	counts := map[Action]map[Reason]int{}
	for _, i := range r.Items {
		if counts[i.Action] == nil {
			counts[i.Action] = map[Reason]int{}
		}
		counts[i.Action][i.Reason]++
	}
	return counts
}
