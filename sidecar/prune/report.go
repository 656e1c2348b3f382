package prune

import (
	"slices"
	"time"

	"github.com/freehold-dev/freehold/sidecar/store"
)

// A Report says what became of everything that prune looked at.
type Report struct {
	// Dir is the directory of the instances, or the state.
	Dir string
	// DryRun says that nothing was removed, only looked at.
	DryRun bool
	// Items in the order of their paths.
	Items []Item
}

// An Item is one instance, or one thing that a killed process left.
type Item struct {
	Kind Kind `json:"kind"`
	// Path of the directory or the file.
	Path string `json:"path"`
	// Instance is the id, where there is one.
	Instance string `json:"instance,omitempty"`
	Action   Action `json:"action"`
	Reason   Reason `json:"reason"`
	// Says is the reason in words.
	Says string `json:"says"`
	// Remedy of the reason, if there is one.
	Remedy store.Remedy `json:"-"`
	// Newest is the newest date in an instance; zero if it was not looked at.
	Newest time.Time `json:"newest,omitzero"`
}

// Kind says what an Item is.
type Kind string

// The kinds of Item.
const (
	Instance Kind = "instance" // a directory that has an instance's name
	Litter   Kind = "litter"   // what a killed process left
	Other    Kind = "other"    // something beside the instances
)

// Action says what became of an Item.
type Action string

// What becomes of an Item.
const (
	Removed     Action = "removed"
	WouldRemove Action = "would remove" // in a dry run
	Kept        Action = "kept"
	Failed      Action = "failed" // it was to be removed, and the system did not
)

// Reason is a stable code for why.
type Reason string

// The reasons.
const (
	Old      Reason = "old"             // ended, and older than asked
	Left     Reason = "left"            // by a killed process
	Young    Reason = "young"           // ended, and not as old as asked
	Busy     Reason = "busy"            // a process has it open, or holds one of its locks
	Active   Reason = "active"          // it was written while prune looked at it
	Future   Reason = "future"          // dated later than now
	Foreign  Reason = "foreign"         // files in it are not Freehold's
	Damaged  Reason = "damaged"         // it cannot be read
	Unsafe   Reason = "unsafe"          // it is another user's, or others may write in it
	NotOurs  Reason = "not an instance" // and so none of prune's business
	IOFailed Reason = "failed"          // input or output
)

// wants are the reasons that somebody should look at: time alone does not mend
// them.
var wants = []Reason{Future, Foreign, Damaged, Unsafe, IOFailed}

// WantsALook reports whether the item stays until somebody does something.
func (i Item) WantsALook() bool { return slices.Contains(wants, i.Reason) }

// Counts returns how many items there are for each action and reason.
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
