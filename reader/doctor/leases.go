package doctor

import (
	"errors"
	"fmt"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// leases says which leases and fences are held by processes that do not run, and
// which records are wrong.
func (p *patient) leases() {
	for _, owner := range p.manifest.Declaration.OwnerNames() {
		if p.manifest.Declaration.Owners[owner].EffectiveMode() != schema.Exclusive {
			continue
		}
		s, err := sidecar.LeaseStatus(p.path, owner)
		if errors.Is(err, store.Lost) || errors.Is(err, sidecar.ErrDeclaration) {
			continue // said already
		}
		if err == nil && s.Disagreement != "" {
			s, err = lookAgain(p.path, owner, s)
		}
		if err != nil {
			p.find(LeaseRecord, ".freehold/"+store.FilesOf(owner).Record, err.Error(), p.run("lease", owner, "--", "true")).Owner = owner
			continue
		}
		p.lease(owner, s)
	}
}

// aMoment is how long a process may take from getting a lease to saying so. What
// is still so after it, is so.
const aMoment = 50 * time.Millisecond

// lookAgain returns the state of a lease once it is no process's that was just
// taking it or giving it back.
func lookAgain(dir, owner string, before sidecar.LeaseState) (sidecar.LeaseState, error) {
	time.Sleep(aMoment)
	s, err := sidecar.LeaseStatus(dir, owner)
	if err == nil && s.PID != before.PID {
		s.Disagreement = "" // it changes hands
	}
	return s, err
}

func (p *patient) lease(owner string, s sidecar.LeaseState) {
	record := ".freehold/" + store.FilesOf(owner).Record
	find := func(code Code, path, says string, do remedy) { p.find(code, path, says, do).Owner = owner }
	again := p.run("lease", owner, "--", "true").but("or start the owner's program: whoever takes the lease writes the record anew")
	switch {
	case errors.Is(s.RecordErr, sidecar.ErrLeaseRecord):
		find(LeaseRecord, record, s.RecordErr.Error(), again)
	case s.Disagreement == "":
	case s.PID != 0:
		find(LeaseDisagrees, record, s.Disagreement, words("end that process, or let it take the lease anew: nobody can retire it by this record"))
	case s.Verdict == store.CannotJudge:
		p.note("lease", "%s: %s", owner, s.Disagreement)
	default:
		find(LeaseGone, record, s.Disagreement, again)
	}
	if s.PID != 0 {
		p.note("lease", "%s: process %d holds the lease", owner, s.PID)
		if h, ok := p.halted(s.PID, store.FilesOf(owner).Lease); ok {
			find(LeaseStopped, ".freehold/"+store.FilesOf(owner).Lease, fmt.Sprintf("process %d holds the lease and %s", s.PID, h.Condition), p.restart(owner, s, h))
		}
	}
	if s.Fence == 0 {
		return
	}
	h, ok := p.halted(s.Fence, store.FilesOf(owner).Fence)
	if !ok {
		p.note("fence", "%s: process %d keeps the fence shut, so that nobody takes the lease: somebody is being retired", owner, s.Fence)
		return
	}
	find(FenceShut, ".freehold/"+store.FilesOf(owner).Fence, fmt.Sprintf("process %d keeps the fence shut and %s, so that nobody can take the lease", s.Fence, h.Condition), goOn(h))
}

// restart says how a holder that does not run is made to run, or ended. It needs
// a signal that it cannot put off.
func (p *patient) restart(owner string, s sidecar.LeaseState, h store.Holder) remedy {
	run := goOn(h)
	if h.Halt == "ended" || s.Lease == nil || s.Disagreement != "" {
		return run
	}
	return run.but("or end it: " + p.run("retire", owner, "--epoch", fmt.Sprint(s.Lease.Epoch), "--pid", fmt.Sprint(s.PID), "--kill").text)
}
