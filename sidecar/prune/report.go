package prune

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"
	"time"

	"github.com/freehold-dev/freehold/sidecar/store"
)

// A Report lists the results of [Run].
type Report struct {
	// Dir is the directory of the instances, or the state.
	Dir string
	// Items in the order of their paths.
	Items []Item
}

// An Item is one instance, or one leftover of a killed process.
type Item struct {
	// Kind is [Instance], "litter" for a leftover of a killed process, or
	// "other".
	Kind string `json:"kind"`
	// Path of the directory or the file.
	Path string `json:"path"`
	// Instance is the id, if there is one.
	Instance string `json:"instance,omitempty"`
	// Action is [Removed], [WouldRemove], [Kept] or [Failed].
	Action string `json:"action"`
	// Reason is a stable code for the cause of the Action.
	Reason string `json:"reason"`
	// Says is the reason in words.
	Says string `json:"says"`
	// Remedy of the reason, if there is one.
	Remedy store.Remedy `json:"-"`
	// Newest is the newest date in an instance; zero if unknown.
	Newest time.Time `json:"newest,omitzero"`
}

// Instance is the kind of a directory that has an instance's name.
const Instance = "instance"

// The actions.
const (
	Removed     = "removed"
	WouldRemove = "would remove" // in a dry run
	Kept        = "kept"
	Failed      = "failed" // the removal failed
)

// The reasons.
const (
	old      = "old"     // ended, and older than asked
	young    = "young"   // ended, and not as old as asked
	busy     = "busy"    // a process has it open, or holds one of its locks
	active   = "active"  // it was written during the inspection
	future   = "future"  // dated later than now
	foreign  = "foreign" // files in it are not Freehold's
	damaged  = "damaged" // it cannot be read
	unsafe   = "unsafe"  // it belongs to, or is writable by, another user
	ioFailed = "failed"  // input or output
)

// WantsALook reports whether the item stays until a person acts.
func (i Item) WantsALook() bool {
	return slices.Contains([]string{future, foreign, damaged, unsafe, ioFailed}, i.Reason)
}

// because returns the item with an action that err has caused.
func (i Item) because(action string, err error) Item {
	i.Action, i.Reason, i.Says, i.Remedy = action, reasonOf(err), err.Error(), store.RemedyOf(err)
	return i
}

// ofStatus are the reasons that errors with a status have; without an entry,
// damaged.
var ofStatus = map[store.Status]string{store.Busy: busy, store.Unsafe: unsafe, store.Foreign: foreign, store.Moved: active}

func reasonOf(err error) string {
	if e, ok := errors.AsType[*store.Error](err); ok {
		return cmp.Or(ofStatus[e.Status], damaged)
	}
	switch {
	case errors.Is(err, fs.ErrPermission):
		return unsafe
	case errors.Is(err, fs.ErrNotExist):
		return active
	case errors.As(err, new(*fs.PathError)):
		return ioFailed
	}
	return damaged
}
