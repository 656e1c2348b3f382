package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/freehold-dev/freehold/cmd/internal/display"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// A leaseReport is what lease prints about a lease.
type leaseReport struct {
	Owner string `json:"owner"`
	// Held says whether the kernel or, where it shows nobody, the record
	// names a process that may hold the lease.
	Held   bool        `json:"held"`
	Kernel *lockReport `json:"kernel,omitempty"` // who has the lock
	Fence  *lockReport `json:"fence,omitempty"`  // who keeps the fence shut
	// Epoch of the last process that took the lease.
	Epoch        uint64            `json:"epoch,omitzero"`
	Record       *recordReport     `json:"record,omitempty"`
	Agree        bool              `json:"agree"`
	Disagreement string            `json:"disagreement,omitempty"`
	Retired      []sidecar.Retiree `json:"retired"`
}

// A lockReport is a process that has a kernel lock.
type lockReport struct {
	PID       int    `json:"pid"`
	Condition string `json:"condition,omitempty"` // why it does not run
}

// A recordReport is the process that the record names as the holder.
type recordReport struct {
	Program  string         `json:"program"`
	Since    time.Time      `json:"since"`
	Identity store.Identity `json:"identity"`
	Verdict  string         `json:"verdict"`
	Reason   string         `json:"reason"`
}

func newLeaseReport(s sidecar.LeaseState) leaseReport {
	r := leaseReport{
		Owner: s.Owner, Kernel: lockOf(s.PID, s.Condition), Fence: lockOf(s.Fence, s.FenceCondition),
		Agree: s.Disagreement == "", Disagreement: s.Disagreement, Retired: []sidecar.Retiree{},
	}
	if l := s.Lease; l != nil {
		r.Epoch = l.Epoch
		r.Retired = append(r.Retired, l.Retired...)
		if h := l.Holder; h != nil {
			r.Record = &recordReport{h.Program, h.Since, h.Identity, s.Verdict.String(), s.Reason}
		}
	}
	// A holder in a PID namespace that cannot be seen from here is not
	// listed by the kernel.
	r.Held = r.Kernel != nil || r.Record != nil && s.Verdict == store.CannotJudge
	return r
}

func lockOf(pid int, condition string) *lockReport {
	if pid == 0 {
		return nil
	}
	return &lockReport{pid, condition}
}

// text returns the report for people.
func (r leaseReport) text() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	switch {
	case r.Kernel != nil:
		line("%s is held by process %d%s%s", r.Owner, r.Kernel.PID, r.Kernel.but(), r.introduced())
	case r.Held:
		line("%s may be held: see below", r.Owner)
	default:
		line("%s is free", r.Owner)
	}
	if r.Fence != nil {
		line("  the fence is shut by process %d%s: nobody can take the lease", r.Fence.PID, r.Fence.but())
	}
	if !r.Agree {
		line("  the record and the kernel differ, and the kernel counts: %s", display.Escape(r.Disagreement))
	}
	for _, gone := range r.Retired {
		line("  process %d of epoch %d: %s at %s by %s", gone.Identity.PID, gone.Epoch, display.Escape(gone.Outcome), shownTime(gone.At), display.Text(gone.By))
	}
	return b.String()
}

func (l *lockReport) but() string {
	if l.Condition == "" {
		return ""
	}
	return ", which " + display.Escape(l.Condition)
}

// introduced says what the record knows of the holder, if it speaks of the
// same process.
func (r leaseReport) introduced() string {
	if r.Record == nil || !r.Agree {
		return ""
	}
	return fmt.Sprintf(", program %s, in epoch %d since %s", display.Text(r.Record.Program), r.Epoch, shownTime(r.Record.Since))
}

func shownTime(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
