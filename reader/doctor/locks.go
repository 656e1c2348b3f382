package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// losses adds findings of locks and directories that were not made with the
// state.
func (c *check) losses() {
	all := c.dir.Lost(c.manifest)
	copied := c.copied(all)
	codes := map[store.Role]string{"lock": "lock-lost", "claims": "claims-lost", "pending": "pending-lost"}
	for _, l := range all {
		if !copied && !errors.Is(l.Err, store.Unsafe) { // files adds a finding of each unsafe directory
			c.find(codes[l.Role], l.Name, l.Err.Error(), store.AccessRemedy(l.Err, store.By("state repair"))).Owner = l.Owner
		}
	}
}

// copied reports whether all files and directories that the manifest knows by
// their inodes are lost and others stand in their places, as in a copy. It adds
// one finding for them all.
func (c *check) copied(lost []store.Entry) bool {
	known, others := 1, 0 // the lock of the state
	for _, o := range c.manifest.Declaration.Owners {
		known++
		if o.EffectiveMode() == schema.Exclusive {
			known += 2
		}
		if o.Claims() {
			known++
		}
	}
	for _, l := range lost {
		if l.Role == "pending" {
			continue
		}
		known--
		if _, err := os.Lstat(c.at(l.Name)); err == nil {
			others++
		}
	}
	if known > 0 || others == 0 {
		return false
	}
	c.find("state-copied", c.path, "the state was copied, or restored from a backup, to this place: none of its lock files and directories of claims is the one that was made with it",
		store.By("state repair").Or("stop its programs first; if the state that it was copied from is in use, move this one away instead: a commit to one is not in the other"))
	return true
}

// aMoment is the longest that a process takes from getting a lease to recording
// it, and the kernel from ending a process to forgetting its locks.
const aMoment = 50 * time.Millisecond

// locks adds findings of locks and leases with holders that do not run, and of
// records of leases that are wrong.
func (c *check) locks() {
	for _, owner := range c.manifest.Declaration.OwnerNames() {
		o := c.manifest.Declaration.Owners[owner]
		if o.EffectiveMode() == schema.Exclusive {
			c.lease(owner)
		}
		lock := store.FilesOf(owner).Lock
		before, err := c.dir.Holder(c.manifest, lock)
		if err != nil {
			continue // losses has a finding
		}
		h, halted := c.halted(before.PID, lock)
		if !halted {
			if before.PID != 0 && keeps(c, before.PID, lock) {
				says := fmt.Sprintf("process %d holds the lock for longer than a second: meanwhile, no process commits as %s", before.PID, owner)
				c.find("lock-held", ".freehold/"+lock, says, byHand("look at that process: it may hang, and its end frees the lock")).Owner = owner
			}
			continue
		}
		effect := "no process commits as " + owner
		if o.Defers() {
			effect = "each commit as " + owner + " is deferred and waits"
		}
		c.blocked[owner] = release(h)
		c.find("lock-stopped", ".freehold/"+lock, fmt.Sprintf("process %d holds the lock and %s; until it lets go, %s", h.PID, h.Condition, effect), release(h)).Owner = owner
	}
}

// keeps reports whether process pid holds the lock at every look of a second, which
// no commit takes.
func keeps(c *check, pid int, lock string) bool {
	for range time.Second / aMoment {
		time.Sleep(aMoment)
		if h, err := c.dir.Holder(c.manifest, lock); err != nil || h.PID != pid {
			return false
		}
	}
	return true
}

// halted reports whether process pid holds the lock and does not run, also a
// moment later.
func (c *check) halted(pid int, lock string) (h store.Holder, ok bool) {
	for again := range 2 {
		if again > 0 {
			time.Sleep(aMoment)
		}
		var err error
		if h, err = c.dir.Holder(c.manifest, lock); err != nil || pid == 0 || h.PID != pid || h.Halt == "" {
			return h, false
		}
	}
	return h, true
}

// release returns the remedy that makes a process which does not run release its
// lock.
func release(h store.Holder) store.Remedy {
	switch {
	case h.Halt == "stopped":
		return store.Remedy{Tool: []string{"kill", "-CONT", fmt.Sprint(h.PID)}, Note: "or end it"}
	case h.Halt == "traced":
		return byHand("let the debugger go on with it, or end it")
	case len(h.Inheritors) == 0:
		return byHand("end the processes that inherited its descriptor")
	}
	pids := strings.Trim(strings.ReplaceAll(fmt.Sprint(h.Inheritors), " ", ", "), "[]")
	// No command: an inheritor may be a daemon at work.
	return byHand("look at the inheritors of its descriptor, and end the one that keeps the lock: process " + pids)
}

// lease adds findings about the lease of an exclusive owner.
func (c *check) lease(owner string) {
	find := func(code, name, says string, r store.Remedy) { c.find(code, ".freehold/"+name, says, r).Owner = owner }
	record, again := store.FilesOf(owner).Record, store.By("lease", owner, "--", "true").Or("or start the owner's program, which writes the record anew")
	s, err := c.leaseStatus(owner)
	switch {
	case errors.Is(err, store.Lost), errors.Is(err, store.BadDeclaration):
		return // another finding tells of it
	case err != nil:
		find("lease-record", record, err.Error(), again)
		return
	case errors.Is(s.RecordErr, store.DamagedRecord):
		find("lease-record", record, s.RecordErr.Error(), store.AccessRemedy(&fs.PathError{Path: c.at(filepath.Join(".freehold", record)), Err: fs.ErrInvalid}, again))
	case s.Disagreement == "":
	case s.PID != 0:
		find("lease-disagrees", record, s.Disagreement, byHand("end that process, or let it take the lease anew: it cannot be retired by this record"))
	case s.Verdict == store.CannotJudge:
		c.note("lease", "%s: %s", owner, s.Disagreement)
	default:
		find("lease-gone", record, s.Disagreement, again)
	}
	if s.PID != 0 {
		c.note("lease", "%s: process %d holds the lease", owner, s.PID)
	}
	if h, halted := c.halted(s.PID, store.FilesOf(owner).Lease); halted {
		remedy := release(h)
		if h.Halt != "ended" && s.Lease != nil && s.Disagreement == "" {
			remedy.Note = fmt.Sprintf("or retire it with --kill: epoch %d, process %d", s.Lease.Epoch, s.PID)
		}
		find("lease-stopped", store.FilesOf(owner).Lease, fmt.Sprintf("process %d holds the lease and %s", s.PID, h.Condition), remedy)
	}
	if h, halted := c.halted(s.Fence, store.FilesOf(owner).Fence); halted {
		find("fence-shut", store.FilesOf(owner).Fence, fmt.Sprintf("process %d keeps the fence shut and %s, so that no process can take the lease", s.Fence, h.Condition), release(h))
	} else if s.Fence != 0 {
		c.note("fence", "%s: process %d keeps the fence shut, so that no process takes the lease: a holder is being retired", owner, s.Fence)
	}
}

// leaseStatus returns the status of a lease that no process is just taking or
// giving back.
func (c *check) leaseStatus(owner string) (sidecar.LeaseState, error) {
	before, err := sidecar.LeaseStatus(c.path, owner)
	if err != nil || before.Disagreement == "" {
		return before, err
	}
	time.Sleep(aMoment)
	s, err := sidecar.LeaseStatus(c.path, owner)
	if err == nil && s.PID != before.PID {
		s.Disagreement = ""
	}
	return s, err
}
