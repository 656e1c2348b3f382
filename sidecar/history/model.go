package history

import (
	"fmt"

	"github.com/anishathalye/porcupine"
)

// A State holds all owners' fields.
type State struct {
	// Of owner cost: its revision, and its note.
	Revision uint64 `json:",omitempty"`
	Note     uint64 `json:",omitempty"`
	// Of owner tool: a counter, a max, and a set, one bit an element.
	Count uint64 `json:",omitempty"`
	Peak  uint64 `json:",omitempty"`
	Tags  uint64 `json:",omitempty"`
	// Of owner hook: for each once field the N of its claimant, or 0.
	Claims [Claims]uint64 `json:",omitzero"`
}

// Claims is how many once fields there are.
const Claims = 12

// A Part is one file of a state: a sidecar, or a claim.
type Part uint32

// The parts.
const (
	OfCost Part = 1 << iota
	OfTool
	firstClaim
	OfHook     = (1<<Claims - 1) * firstClaim
	Everything = OfCost | OfTool | OfHook
)

// OfClaim returns the part that is one once field of owner hook.
func OfClaim(field int) Part { return firstClaim << field }

// Of returns those parts of s, and nothing of the others.
func (p Part) Of(s State) (some State) {
	p.Copy(&some, s)
	return some
}

// Copy copies those parts of from to to.
func (p Part) Copy(to *State, from State) {
	if p&OfCost != 0 {
		to.Revision, to.Note = from.Revision, from.Note
	}
	if p&OfTool != 0 {
		to.Count, to.Peak, to.Tags = from.Count, from.Peak, from.Tags
	}
	for field, by := range from.Claims {
		if p&OfClaim(field) != 0 {
			to.Claims[field] = by
		}
	}
}

// after returns the state in which s is left by an operation that is applied.
func (s State) after(in Input) State {
	switch in.Verb {
	case Set:
		s.Revision, s.Note = s.Revision+1, in.N
	case SetIf:
		if s.Revision == in.If {
			s.Revision, s.Note = s.Revision+1, in.N
		}
	case Add:
		s.Count, s.Peak = s.Count+in.N, max(s.Peak, in.Peak)
	case Raise:
		s.Peak = max(s.Peak, in.N)
	case Insert:
		s.Tags |= 1 << in.N
	case Remove:
		s.Tags &^= 1 << in.N
	case Claim:
		if s.Claims[in.Field] == 0 {
			s.Claims[in.Field] = in.N
		}
	}
	return s
}

// step returns whether the operation in, of which a process says out, can be
// applied to s, and the state that it leaves.
func (s State) step(in Input, out Output) (bool, State) {
	next := s.after(in)
	sees := out.Parts.Of(out.Seen) == out.Parts.Of(next)
	switch out.End {
	case Changed:
		return sees && next != s, next
	case Same:
		return sees && next == s, s
	case Refused:
		return true, s
	}
	return true, next // it was deferred, or its process was killed
}

// model is [State] for porcupine.
var model = porcupine.Model{
	Init: func() any { return State{} },
	Step: func(s, in, out any) (bool, any) {
		ok, next := s.(State).step(in.(Input), out.(Output))
		return ok, next
	},
	Hash: func(s any) uint64 {
		h := s.(State)
		return ((h.Revision*31+h.Count)*31+h.Peak)*31 + h.Tags
	},
	DescribeOperation: func(in, out any) string {
		o := out.(Output)
		if o.End == "" {
			return fmt.Sprintf("%+v: killed", in)
		}
		return fmt.Sprintf("%+v: %s, saw %+v", in, o.End, o.Parts.Of(o.Seen))
	},
	DescribeState: func(s any) string { return fmt.Sprintf("%+v", s) },
}
