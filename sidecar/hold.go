package sidecar

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/freehold-dev/freehold/sidecar/internal/failpoint"
	"github.com/freehold-dev/freehold/sidecar/internal/lease"
	"github.com/freehold-dev/freehold/sidecar/internal/lock"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// A hold is the locks of a site: the lock of commits, and if the owner is
// exclusive, the lease with its epoch.
type hold struct {
	file
	wait time.Duration // for the lock
	// bounded says that the wait for the lease bounds the whole Open.
	bounded bool
	lock    *statedir.Lock
	lease   *statedir.Lock // held if the owner is exclusive, else nil
	fail    func(error)    // ends the Writer for good

	epoch  uint64
	holder *lease.Holder // this process, as the record has it; nil if it gave the lease back
	// written is the bytes of the record as this process wrote them, and spare a
	// buffer to read the record.
	written, spare []byte
}

// leases keeps the leases of this process open until they are closed: the
// garbage collector must not free the lease of a Writer that was dropped without
// Close.
var leases sync.Map

// shut closes the locks.
func (h *hold) shut() error {
	var errs []error
	for _, l := range []*statedir.Lock{h.lock, h.lease} {
		if l != nil {
			errs = append(errs, l.Close())
			leases.Delete(l)
		}
	}
	return errors.Join(errs...)
}

// acquire takes the owner's lock. The error wraps [ErrFenced] if the lock was lost
// with the lease, as when the whole directory was deleted.
func (h *hold) acquire(ctx context.Context, wait time.Duration) error {
	err := h.lock.Acquire(ctx, wait)
	if h.lease != nil && errors.Is(err, store.Lost) {
		err = cmp.Or(h.leaseFile(), err)
	}
	return err
}

// unmoved returns an error that wraps [store.Moved] if the directory's path names
// another directory, and [ErrFenced] too if the owner is exclusive: another
// process may hold the lease that is at the path now.
func (h *hold) unmoved() error {
	err := h.dir.Unmoved()
	if h.lease != nil && errors.Is(err, store.Moved) {
		err = fmt.Errorf("owner %s: %w: %w", h.owner, ErrFenced, err)
	}
	return err
}

// holds returns an error that wraps [ErrFenced] unless this process is the live
// one of an exclusive owner. The answer stays true as long as the caller holds
// the owner's lock, without which no process begins an epoch.
//
// The kernel's lock on the lease file counts. The record can only take the right
// to write away, by naming a later epoch: then a process took the lease where
// locks do not reach, or while the lock file was replaced. A record that is
// missing, damaged or earlier is written anew, since taking a lease leaves a
// later one.
func (h *hold) holds() error {
	if h.lease == nil {
		return nil
	}
	if err := h.leaseFile(); err != nil {
		return err
	}
	raw, err := h.dir.ReadRecord(statedir.OwnerRecord(h.owner), h.spare, lease.MaxSize)
	if err == nil {
		h.spare = raw
		if bytes.Equal(raw, h.written) {
			return nil
		}
	}
	record, err := h.readLease()
	switch {
	case err != nil && !errors.Is(err, ErrLeaseRecord):
		return err
	case err == nil && record.Supersedes(h.epoch, h.holder):
		return h.fenced(record.Epoch, "the record of the lease says so")
	}
	return h.mendRecord()
}

// follows returns an error that wraps [ErrFenced] if the sidecar base is of a
// later epoch than the lease.
func (h *hold) follows(base *document.Document) error {
	if h.lease != nil && base.Version.Epoch > h.epoch {
		return h.fenced(base.Version.Epoch, "the sidecar was written in it")
	}
	return nil
}

// leaseFile returns an error that wraps [ErrFenced] if the file of which this
// process holds the lock is no longer the lease file.
func (h *hold) leaseFile() error {
	err := h.lease.Kept()
	if errors.Is(err, store.Lost) || errors.Is(err, ErrBusy) {
		err = fmt.Errorf("owner %s: %w: %w", h.owner, ErrFenced, err)
		if !errors.Is(err, statedir.ErrIrregular) { // a second name can go away again
			h.fail(err)
		}
	}
	return err
}

// fenced ends the Writer for good.
func (h *hold) fenced(epoch uint64, why string) error {
	err := fmt.Errorf("owner %s: %w: this process held epoch %d, and epoch %d has begun: %s; open the owner again", h.owner, ErrFenced, h.epoch, epoch, why)
	h.fail(err)
	return err
}

func (h *hold) readLease() (*lease.Record, error) {
	return lease.Read(h.dir, h.owner, h.manifest.StateID)
}

// changeRecord writes the record with this process as its holder, after prepare
// has looked at the record that is there.
func (h *hold) changeRecord(prepare func(*lease.Record) (write bool, err error)) error {
	record, err := lease.ReadForChange(h.dir, h.owner, h.manifest.StateID, h.notice)
	if err != nil {
		return err
	}
	if write, err := prepare(record); !write || err != nil {
		return err
	}
	record.Epoch, record.Holder = h.epoch, h.holder
	raw, err := record.Write(h.dir)
	if err == nil {
		h.written = raw
	}
	return err
}

// mendRecord writes the record as this process had left it.
func (h *hold) mendRecord() error {
	if err := h.changeRecord(func(*lease.Record) (bool, error) { return true, nil }); err != nil {
		return err
	}
	if h.notice != nil {
		h.notice(fmt.Errorf("owner %s: %w: it was not as this process, which holds the lease, had left it, and was written anew: nothing to do", h.owner, ErrLeaseRecord))
	}
	return nil
}

// beginEpoch begins and records the epoch of the lease that this process has
// just taken. The caller holds the owner's lock.
func (h *hold) beginEpoch() error {
	if err := h.dir.Unmoved(); err != nil {
		return err
	}
	return h.changeRecord(func(record *lease.Record) (bool, error) {
		h.epoch = h.newEpoch(append(record.Epochs(), h.visibleEpoch(), h.observedEpoch())...)
		h.holder = &lease.Holder{Identity: self(), Program: h.program, Since: h.clock().UTC(), Invocation: invocation()}
		return true, h.checkVersion(Version{Epoch: h.epoch})
	})
}

// giveBack takes this process out of the record, for its readers: the
// lease itself goes with the lock.
func (h *hold) giveBack(ctx context.Context) error {
	if h.lease == nil || h.holder == nil || h.lease.Kept() != nil {
		return nil // nothing to give back: the record that is there now may be another process's
	}
	if err := h.lock.Acquire(ctx, h.wait); err != nil {
		return err
	}
	defer h.lock.Release()
	return h.changeRecord(func(record *lease.Record) (bool, error) {
		if record.Supersedes(h.epoch, h.holder) {
			return false, nil
		}
		h.holder = nil
		return true, nil
	})
}

// invocation returns systemd's id of this start of the service, or "".
func invocation() string {
	id := os.Getenv("INVOCATION_ID")
	if len(id) != 32 || strings.Trim(id, "0123456789abcdef") != "" {
		return ""
	}
	return id
}

// newEpoch returns an epoch that is larger than those given, than every other
// visible epoch of this owner, and than the clock in microseconds: no version
// that was seen is issued again, also if the sidecar was lost or an older copy
// came back. The nonce differs where nothing is visible and the clock went back.
func (h *hold) newEpoch(visible ...uint64) uint64 {
	top := max(h.epoch, h.seen.Epoch)
	for _, epoch := range visible {
		top = max(top, epoch)
	}
	const farthest = document.MaxEpoch - 1<<32 // a clock that runs wild must not use up the epochs
	clock := uint64(max(h.clock().UnixMicro(), 0))
	return max(top+1, min(clock, farthest))
}

// nextVersion returns the version of a commit on top of base.
func (h *hold) nextVersion(base *document.Document) Version {
	v := Version{Epoch: base.Version.Epoch, Revision: base.Version.Revision + 1, Nonce: process.NewNonce()}
	switch {
	case h.lease != nil:
		if v.Epoch != h.epoch {
			v.Epoch, v.Revision = h.epoch, 1
		}
		if h.seen.Epoch == h.epoch { // an older copy may have come back
			v.Revision = max(v.Revision, h.seen.Revision+1)
		}
	case base.Version.IsZero():
		v.Epoch, v.Revision = h.newEpoch(h.quarantinedEpoch(), h.observedEpoch()), 1
	case base.Writer.Identity.Boot != self().Boot, behind(base.Version, h.seen), base.Version.Revision == document.MaxRevision:
		v.Epoch, v.Revision = h.newEpoch(base.Version.Epoch, h.observedEpoch()), 1
	}
	return v
}

// A taking is an Open of an exclusive owner on its way to the lease. Between
// its tries it holds nothing.
type taking struct {
	*hold
	fence     *lock.Lock
	leaseWait time.Duration
	blocked   map[blocker]time.Time // since when
	notices   lease.Notices
}

// A blocker is a lock that keeps an Open waiting.
type blocker int

const (
	nobody   blocker = iota
	atFence          // the fence is shut: wait as long as the context allows
	atLease          // the owner has a live process: wait if asked
	atCommit         // a commit holds the owner's lock, for milliseconds
)

// takeLease makes this process the owner's live one.
func (h *hold) takeLease(ctx context.Context, wait time.Duration) (err error) {
	if h.lease, err = h.openLock(statedir.OwnerLease(h.owner)); err != nil {
		return err
	}
	fence, err := h.openLock(statedir.OwnerFence(h.owner))
	if err != nil {
		return err
	}
	defer fence.Close()
	t := &taking{hold: h, fence: fence, leaseWait: wait, notices: lease.Notices{Looked: time.Now()}, blocked: map[blocker]time.Time{}}
	backoff, start := lock.NewBackoff(lease.LongestPause), time.Now()
	for {
		by, err := t.try()
		if err != nil || by == nobody {
			return err
		}
		left := t.left(by)
		if h.bounded {
			left = min(left, wait-time.Since(start))
		}
		if left <= 0 {
			return t.refusal(by)
		}
		if h.notice != nil {
			t.notices.Tell(h.notice, func() error { return t.refusal(by) })
		}
		if _, err := backoff.Pause(ctx, lock.Forever); err != nil {
			return fmt.Errorf("%w (%w)", t.refusal(by), err)
		}
	}
}

// try takes the locks once, in their order: the fence, the lease, the owner's
// lock, and begins the epoch. It returns the lock that was not free, with nothing
// held.
func (t *taking) try() (blocker, error) {
	open, err := t.fence.TryShared()
	if !open || err != nil {
		return atFence, err
	}
	defer t.fence.Release()
	failpoint.Hit(failpoint.TakeFence)
	if ok, err := t.lease.Try(); !ok {
		return atLease, err
	}
	failpoint.Hit(failpoint.TakeLease)
	by, err := t.begin()
	if by != nobody || err != nil {
		t.lease.Release()
		return by, err
	}
	leases.Store(t.lease, nil)
	failpoint.Hit(failpoint.TakeRecord)
	return nobody, nil
}

// begin begins the epoch, under the owner's lock.
func (t *taking) begin() (blocker, error) {
	if ok, err := t.lock.Try(); !ok {
		return atCommit, err
	}
	defer t.lock.Release()
	return nobody, t.beginEpoch()
}

// left returns for how long more this Open may wait for by.
func (t *taking) left(by blocker) time.Duration {
	if by == atFence {
		return lock.Forever
	}
	since, ok := t.blocked[by]
	if !ok {
		since = time.Now()
		t.blocked[by] = since
	}
	wait := t.leaseWait
	if by == atCommit {
		wait = max(wait, t.wait)
	}
	return wait - time.Since(since)
}

// refusal returns the error of the lock that is not free.
func (t *taking) refusal(by blocker) error {
	switch by {
	case atFence:
		return fmt.Errorf("owner %s: the fence is shut, as while its process is retired: %w", t.owner, t.fence.Busy())
	case atLease:
		return fmt.Errorf("owner %s is exclusive and has a live process%s: %w", t.owner, t.introduce(), t.lease.Busy())
	}
	return t.lock.Busy()
}

// introduce returns the holder's program, start and epoch, or "" unless the
// record speaks of the process that the kernel names.
func (t *taking) introduce() string {
	record, err := t.readLease()
	if err != nil || record == nil || record.Holder == nil {
		return ""
	}
	h := record.Holder
	if pid := t.lease.Holder(); pid != 0 && pid != h.Identity.PID {
		return ""
	}
	return fmt.Sprintf(", program %.64q since %s in epoch %d", h.Program, h.Since.UTC().Format(time.RFC3339), record.Epoch)
}
