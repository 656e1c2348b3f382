// Package status holds the error type of the module: a status, a place, a
// remedy. Package store shows it to users.
package status

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
)

// A Status says in one word how a file, a lock or an operation was found. It is
// an error, for errors.Is.
type Status string

// The statuses of a sidecar, a claim or another file of a state.
const (
	OK         Status = "ok"
	Missing    Status = "missing"    // never written
	Invalid    Status = "invalid"    // not of the format
	Newer      Status = "newer"      // of a format that this release does not read
	Foreign    Status = "foreign"    // edited by another hand, or of another owner or state
	Unreadable Status = "unreadable" // permission, input/output, or no plain file
	Regressed  Status = "regressed"  // older than an observation of it, or gone since
	Lost       Status = "lost"       // a lock file or directory is not the one that was made with the state
	Rejected   Status = "rejected"   // a pending patch that cannot be applied any more
)

// The statuses of a state directory.
const (
	NoState     Status = "no-state"     // not a state directory
	Exists      Status = "exists"       // already a state directory
	Unsafe      Status = "unsafe"       // others may write in it, or its file system has no locks
	Moved       Status = "moved"        // its path names another directory now
	Misplaced   Status = "misplaced"    // the directory of another instance
	Instances   Status = "instances"    // holds instances, and one was wanted
	NoInstances Status = "no-instances" // declared without instances, and one was wanted
	Unsupported Status = "unsupported"  // a promise cannot be kept on this platform
)

// The statuses of an operation.
const (
	Busy          Status = "busy"           // a lock was not to be had in time
	Conflict      Status = "conflict"       // not at the version or incarnation that was meant
	Declaration   Status = "declaration"    // program and manifest contradict each other
	Fenced        Status = "fenced"         // no longer the owner's live process
	Indeterminate Status = "indeterminate"  // the operating system left it open
	NoKey         Status = "no-key"         // a map has no such key
	NoAncestor    Status = "no-ancestor"    // no process that a claim can be for
	NotObserved   Status = "not-observed"   // a dependent value without a token of observed versions
	NotOpen       Status = "not-open"       // an event token that is not open
	NotOwner      Status = "not-owner"      // the field is another owner's, or undeclared
	Value         Status = "value"          // a value does not fit its field
	Unknown       Status = "unknown"        // Resolve cannot tell
	Damaged       Status = "damaged-record" // the record of a lease cannot be read
)

// The statuses of a process that holds a lease.
const (
	CannotJudge     Status = "cannot-judge"     // nothing proves which process holds the lease
	IdentityChanged Status = "identity-changed" // another process than the prepared one holds it
	DeadlinePassed  Status = "deadline"         // the process did not end in time
	Gone            Status = "gone"             // the process has ended
	NoHolder        Status = "no-holder"        // no process is recorded as the holder
	NoLease         Status = "no-lease"         // the owner is shared
	Protected       Status = "protected"        // a process that is never signalled
)

// texts are the statuses that need more words to read as an error.
var texts = map[Status]string{
	Foreign:         "changed by a hand other than Freehold's",
	Newer:           "of a newer release",
	Lost:            "missing or replaced",
	NoState:         "not a state directory",
	Exists:          "already a state directory",
	Unsafe:          "the state directory is not safe to use",
	Moved:           "the state directory was moved or replaced",
	Misplaced:       "not the instance that belongs there",
	Instances:       "not one state but its instances",
	NoInstances:     "a state without instances",
	Unsupported:     "not supported on this platform",
	Declaration:     "the declaration contradicts the state's manifest",
	NoKey:           "no such key",
	NotObserved:     "not observed",
	NotOpen:         "not open",
	NotOwner:        "not the owner",
	Value:           "invalid value",
	Damaged:         "the record of the lease is damaged",
	CannotJudge:     "cannot judge",
	IdentityChanged: "identity changed",
	DeadlinePassed:  "deadline passed",
	Gone:            "the process has ended",
	NoHolder:        "no holder",
	NoLease:         "no lease",
	Protected:       "never signalled",
}

// Error returns the status in words.
func (s Status) Error() string {
	if text, ok := texts[s]; ok {
		return text
	}
	return string(s)
}

// An Error is a status with its place, cause and remedy. It wraps Status and
// Err.
type Error struct {
	Status Status
	Path   string // of the file or directory; or empty
	Owner  string // or empty
	Field  string // or empty
	Remedy Remedy
	Err    error // the cause; or nil
}

// Error returns "<path>: <status>: <cause>", without words of the status or the
// path twice.
func (e *Error) Error() string {
	text := e.Status.Error()
	if e.Err != nil {
		cause := e.Err.Error()
		if p, ok := e.Err.(*fs.PathError); ok && p.Path == e.Path {
			cause = p.Op + ": " + p.Err.Error()
		}
		if strings.HasPrefix(cause, text) {
			text = cause
		} else {
			text += ": " + cause
		}
	}
	if e.Path == "" {
		return text
	}
	return e.Path + ": " + text
}

// Advice returns the remedy in words, for tests.
func (e *Error) Advice() string { return RemedyOf(e).String() }

// Unwrap returns the status and the cause.
func (e *Error) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Status}
	}
	return []error{e.Status, e.Err}
}

// Of returns the status of the outermost error in err that has one, OK for nil,
// [Missing] for [fs.ErrNotExist], and "" for any other.
func Of(err error) Status {
	if err == nil {
		return OK
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Status
	}
	if s, ok := errors.AsType[Status](err); ok {
		return s
	}
	if errors.Is(err, fs.ErrNotExist) {
		return Missing
	}
	return ""
}

// RemedyOf returns the first of [Remedies], or the zero Remedy.
func RemedyOf(err error) Remedy {
	if all := Remedies(err); len(all) > 0 {
		return all[0]
	}
	return Remedy{}
}

// Remedies returns the remedies in err, each once: of every joined error the
// outermost one.
func Remedies(err error) (all []Remedy) {
	remedy := Remedy{}
	switch e := err.(type) {
	case *Error:
		remedy = e.Remedy
	case *remedied:
		remedy = e.remedy
	}
	if !remedy.IsZero() {
		return []Remedy{remedy}
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		return Remedies(e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, wrapped := range e.Unwrap() {
			for _, r := range Remedies(wrapped) {
				if !slices.ContainsFunc(all, r.equal) {
					all = append(all, r)
				}
			}
		}
	}
	return all
}
