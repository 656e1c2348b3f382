package sidecar

import (
	"errors"
	"fmt"

	"github.com/freehold-dev/freehold/sidecar/internal/lease"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
)

// A Retiree is a process that was retired, or was found gone.
type Retiree = lease.Retiree

// ErrLeaseRecord is wrapped by the error that says that the record of a lease
// is damaged. A damaged record stops nothing.
var ErrLeaseRecord = lease.ErrRecord

// A LeaseState describes the lease of an exclusive owner by the kernel and by
// the record, which need not agree. It may be out of date at once.
type LeaseState struct {
	Owner string
	// PID of the process that holds the lease by the kernel's list of locks, or
	// inherited it where that does not list a process that has ended; 0 if this
	// process can see none. A holder in a PID namespace that is not visible from
	// here is not seen.
	PID int
	// Condition says in words why that process does not run, if it does not:
	// stopped, or gone, with the lock left to a process that inherited it.
	Condition string
	// Fence is the process that keeps the fence shut, likewise, and
	// FenceCondition why it does not run.
	Fence          int
	FenceCondition string
	// Lease is the record; nil if there is none. RecordErr wraps
	// [ErrLeaseRecord] if the record is damaged.
	Lease     *lease.Record
	RecordErr error
	// Verdict and Reason judge the process that the record names as the holder;
	// empty if there is none.
	Verdict process.Verdict
	Reason  string
	// Disagreement says how the record and the kernel differ; empty if they
	// do not.
	Disagreement string
}

// LeaseStatus returns the state of the lease of owner in the state directory
// dir. It takes no lock and disturbs no process. It returns an error that wraps
// [store.NoLease] if the owner is shared, and the errors of [Open] for a missing
// directory or owner.
func LeaseStatus(dir, owner string) (LeaseState, error) {
	l, err := lease.OpenLocks(dir, owner)
	if err != nil {
		return LeaseState{}, err
	}
	defer l.Close()
	s := LeaseState{Owner: owner, PID: l.Lease.Holder(), Fence: l.Fence.ExclusiveHolder()}
	if s.PID == 0 {
		s.PID = l.Lease.InheritedBy()
	}
	if s.PID != 0 {
		s.Condition = process.Condition(s.PID)
	}
	if s.Fence != 0 {
		s.FenceCondition = process.Condition(s.Fence)
	}
	s.Lease, s.RecordErr = lease.Read(l.Store, owner, l.Manifest.StateID)
	if s.RecordErr != nil {
		s.Lease = nil
	}
	if s.Lease != nil && s.Lease.Holder != nil {
		s.Verdict, s.Reason = s.Lease.Holder.Identity.Judge()
		if s.PID == 0 && s.Verdict == process.CannotJudge && process.InFirstNamespace() {
			// As of a container that is gone: here the kernel lists every holder.
			s.Verdict, s.Reason = process.Gone, "the kernel's list of locks, which is whole here, has no holder"
		}
	}
	s.Disagreement = s.disagree()
	return s, nil
}

func (s *LeaseState) disagree() string {
	var recorded *lease.Holder
	if s.Lease != nil {
		recorded = s.Lease.Holder
	}
	switch {
	case errors.Is(s.RecordErr, ErrLeaseRecord):
		return s.RecordErr.Error()
	case s.PID == 0 && recorded != nil && s.Verdict == process.CannotJudge:
		return fmt.Sprintf("the record names process %d, of which nothing can be said here (%s), and no process that can be seen from here holds the lease", recorded.Identity.PID, s.Reason)
	case s.PID == 0 && recorded != nil:
		return fmt.Sprintf("the record names process %d (%s), and no process holds the lease", recorded.Identity.PID, s.Reason)
	case s.PID != 0 && recorded == nil:
		return fmt.Sprintf("process %d holds the lease, and the record names nobody", s.PID)
	case s.PID != 0 && recorded.Identity.PID != s.PID:
		return fmt.Sprintf("process %d holds the lease, and the record names process %d (%s)", s.PID, recorded.Identity.PID, s.Reason)
	case s.PID != 0 && s.Verdict == process.Gone:
		return fmt.Sprintf("process %d holds the lease, and the record names an earlier process of that number (%s)", s.PID, s.Reason)
	}
	return ""
}
