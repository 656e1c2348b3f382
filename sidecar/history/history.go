// Package history checks that the operations of several processes on one state,
// and their views, could be those of one process, one operation
// after another: that a state is linearizable. It plays random operations with
// real processes, some of which are killed, writes down when each was called
// and when it returned, and has porcupine look for an order that [State] allows.
//
// It proves nothing about power loss, and tries only the orders that happen.
// The tests that use it call [Main] in their TestMain; it is for tests alone.
package history

import (
	"math"

	"github.com/anishathalye/porcupine"
)

// A Verb is the kind of an operation.
type Verb string

// The verbs. All but View and Claim are one Update.
const (
	Set     Verb = "set"         // cost: note becomes N
	SetIf   Verb = "set if"      // the same, if cost is at revision If
	Cost    Verb = "see cost"    // cost's fields, under its lock
	Add     Verb = "add"         // tool: count grows by N, and peak is raised to Peak
	Raise   Verb = "raise"       // tool: peak is raised to N
	Insert  Verb = "insert"      // tool: tags get N
	Remove  Verb = "remove"      // tool: tags lose N
	Fold    Verb = "fold"        // tool's fields, under its lock; pending patches are folded
	Claim   Verb = "claim"       // hook: the once field Field is claimed, as of moment N
	View    Verb = "view"        // all fields, with a reader
	Resolve Verb = "ask resolve" // the outcome of this process's last commit
)

// An Input is an operation.
type Input struct {
	Verb  Verb
	N     uint64 `json:",omitempty"`
	Peak  uint64 `json:",omitempty"`
	If    uint64 `json:",omitempty"`
	Field int    `json:",omitempty"`

	// How it is done, which means nothing to a model: without waiting for the
	// lock, and how many microseconds the lock is kept.
	Hasty bool `json:",omitempty"`
	Keep  int  `json:",omitempty"`
}

// An End says how an operation ended.
type End string

// The ends. An operation of a killed process has the empty one.
const (
	Changed End = "changed" // it was applied, or has won
	Same    End = "same"    // it found nothing to change: unchanged, a conflict, a claim lost
	Pending End = "pending" // it was deferred
	Refused End = "refused" // it failed, and changed nothing
)

// An Output is the answer of an operation.
type Output struct {
	End End `json:",omitempty"`
	// The parts of the state that the operation saw in the end.
	Parts Part  `json:",omitempty"`
	Seen  State `json:",omitzero"`
	// Atomic is whether a view was. One that is not shows each part as it was
	// at some moment of its own.
	Atomic bool `json:",omitempty"`
	// Pending is how many patches a view says are deferred.
	Pending int `json:",omitempty"`
	// Trouble is an error that should not have been, or a wrong answer.
	Trouble string `json:",omitempty"`
}

// A Record is one operation of a history.
type Record struct {
	Client int // the calling process: each has a number of its own
	Input  Input
	Output Output
	// When it was called and when it returned, by a clock that all processes
	// share and nobody sets, in nanoseconds.
	Call, Return int64
}

// open says that the operation never returned, and may take effect at any time
// after its call, or never.
func (r Record) open() bool { return r.Output.End == "" }

// Operations returns records as porcupine wants them. A view that is not atomic
// becomes one operation for each sidecar, without its claims, which would be too
// many operations at once. A view that was killed is left out.
func Operations(records []Record) []porcupine.Operation {
	var all []porcupine.Operation
	put := func(r Record) {
		all = append(all, porcupine.Operation{ClientId: r.Client, Input: r.Input, Output: r.Output, Call: r.Call, Return: r.Return})
	}
	for _, r := range records {
		switch {
		case r.open() && r.Input.looks():
		case r.open():
			r.Return = math.MaxInt64
			put(r)
		case r.Input.Verb == View && r.Output.End == Same && !r.Output.Atomic:
			for _, part := range []Part{OfCost, OfTool} {
				r.Output.Parts = part
				put(r)
			}
		default:
			put(r)
		}
	}
	return all
}

func (in Input) looks() bool {
	return in.Verb == Cost || in.Verb == Fold || in.Verb == View || in.Verb == Resolve
}
