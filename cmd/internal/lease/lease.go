// Package lease shows the lease of an exclusive owner, or holds it while a command
// runs.
package lease

import (
	"context"
	"fmt"
	"time"

	"github.com/freehold-dev/freehold/cmd/internal/console"
	"github.com/freehold-dev/freehold/cmd/internal/display"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// The texts of the command.
const (
	Use   = "lease OWNER [-- CMD...]"
	Short = "show the holder of a lease, or hold it while a command runs"
	Long  = `Show the process that holds the lease of the exclusive owner OWNER: by the kernel's
lock, which alone counts, and by the record beside it; whether the two agree; and
the processes that were retired lately. It takes no lock and disturbs no program.

With -- CMD, hold the lease while CMD runs. The exit status is CMD's, or 128 and the
number of the signal that ended it. Signals are passed on to CMD, but those that a
terminal sends to both. CMD inherits no lock, and cannot write as OWNER meanwhile. If
freehold is killed, Linux kills CMD, though not CMD's children; elsewhere CMD goes on
without the lease. If another process holds the lease, the exit status is 5, at once
or after --wait.`
	Example = `  freehold lease watchdog --json
  freehold lease watchdog --wait 1m -- ./watch.sh --every 5s`

	WantsOwner   = "an OWNER, and a CMD behind a -- if it is to run one"
	WantsCommand = "a CMD behind the --"
)

// A Call is one call of lease.
type Call struct {
	*console.Console
	*console.Place
	*console.Writing
}

// Run shows owner's lease, or holds it while a command runs.
func (l *Call) Run(ctx context.Context, owner string, command []string) error {
	if len(command) > 0 {
		return l.hold(ctx, owner, command)
	}
	l.Looks = true
	dir, err := l.Find()
	if err != nil {
		return err
	}
	state, err := sidecar.LeaseStatus(dir, owner)
	if err != nil {
		return err
	}
	r := newReport(state)
	return l.Answer(r, r.text())
}

// A report is the answer of lease.
type report struct {
	Owner string `json:"owner"`
	// Held says that a process may hold the lease: one that the kernel names, or,
	// where the kernel shows none, one that the record names.
	Held   bool        `json:"held"`
	Kernel *lockReport `json:"kernel,omitempty"` // the holder of the lock
	Fence  *lockReport `json:"fence,omitempty"`  // the process that keeps the fence shut
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
	Condition string `json:"condition,omitempty"` // the reason why it does not run
}

// A recordReport is the process that the record names as the holder.
type recordReport struct {
	Program  string         `json:"program"`
	Since    time.Time      `json:"since"`
	Identity store.Identity `json:"identity"`
	Verdict  string         `json:"verdict"`
	Reason   string         `json:"reason"`
}

func newReport(s sidecar.LeaseState) report {
	r := report{
		Owner: s.Owner, Kernel: lockOf(s.PID, s.Condition), Fence: lockOf(s.Fence, s.FenceCondition),
		Agree: s.Disagreement == "", Disagreement: s.Disagreement,
	}
	if l := s.Lease; l != nil {
		r.Epoch, r.Retired = l.Epoch, l.Retired
		if h := l.Holder; h != nil {
			r.Record = &recordReport{h.Program, h.Since, h.Identity, s.Verdict.String(), s.Reason}
		}
	}
	// The kernel does not list a holder in an invisible PID namespace.
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
func (r report) text() string {
	var t console.Text
	switch {
	case r.Kernel != nil:
		introduced := ""
		if r.Record != nil && r.Agree {
			introduced = ", program " + display.Text(r.Record.Program) + ", in epoch " + fmt.Sprint(r.Epoch) + " since " + shownTime(r.Record.Since)
		}
		t.Line("%s is held by %s%s", r.Owner, r.Kernel, introduced)
	case r.Held:
		t.Line("%s may be held: see below", r.Owner)
	default:
		t.Line("%s is free", r.Owner)
	}
	if r.Fence != nil {
		t.Line("  the fence is shut by %s: nobody can take the lease", r.Fence)
	}
	if !r.Agree {
		t.Line("  the record and the kernel differ, and the kernel counts: %s", r.Disagreement)
	}
	for _, gone := range r.Retired {
		t.Line("  process %d of epoch %d: %s at %s by %s", gone.Identity.PID, gone.Epoch, gone.Outcome, shownTime(gone.At), display.Text(gone.By))
	}
	return t.String()
}

func (l *lockReport) String() string {
	if l.Condition == "" {
		return fmt.Sprintf("process %d", l.PID)
	}
	return fmt.Sprintf("process %d, which %s", l.PID, l.Condition)
}

func shownTime(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
