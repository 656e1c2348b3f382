package sidecar

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/freehold-dev/freehold/sidecar/internal/lease"
	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// beginEpoch begins and records the epoch of the lease that this process has
// just taken. The caller holds the owner's lock.
func (w *Writer) beginEpoch() error {
	if err := w.dir.Unmoved(); err != nil {
		return err
	}
	record, err := w.readRecord()
	if err != nil {
		return err
	}
	w.epoch = w.newEpoch(append(record.Epochs(), w.sidecarEpoch(), w.observedEpoch())...)
	if err := w.checkVersion(Version{Epoch: w.epoch}); err != nil {
		return err
	}
	w.holder = &lease.Holder{Identity: self(), Program: w.program, Since: w.clock().UTC(), Invocation: invocation()}
	return w.record(record)
}

// invocation returns systemd's id of this start of the service, if it is one.
func invocation() string {
	id := os.Getenv("INVOCATION_ID")
	if len(id) != 32 || strings.Trim(id, "0123456789abcdef") != "" {
		return ""
	}
	return id
}

func (w *Writer) readLease() (*lease.Record, error) {
	return lease.Read(w.dir, w.owner, w.manifest.StateID)
}

func (w *Writer) readRecord() (*lease.Record, error) {
	return lease.ReadForChange(w.dir, w.owner, w.manifest.StateID, w.notice)
}

// record writes lease with this process as its holder.
func (w *Writer) record(lease *lease.Record) error {
	lease.Epoch, lease.Holder = w.epoch, w.holder
	raw, err := lease.Write(w.dir)
	if err == nil {
		w.recordRaw = raw
	}
	return err
}

// holds returns an error that wraps [ErrFenced] unless this process still is
// the owner's live one. The caller holds the owner's lock, without which
// nobody begins an epoch, so that the answer stays true until it lets it go.
//
// The kernel's lock on the file that was made with the state is what counts.
// The record can only take the right to write away: if it names a later
// epoch, then somebody took the lease where locks do not reach, or the lock
// file was replaced for a while. A record that is missing, damaged or of an
// earlier epoch is none of these, for whoever takes a lease leaves a later
// one: it is written anew.
func (w *Writer) holds() error {
	if err := w.leaseFile(); err != nil {
		return err
	}
	raw, err := w.dir.ReadRecord(statedir.OwnerRecord(w.owner), w.recordSpare, lease.MaxSize)
	if err == nil {
		w.recordSpare = raw
		if bytes.Equal(raw, w.recordRaw) {
			return nil
		}
	}
	lease, err := w.readLease()
	switch {
	case err != nil && !errors.Is(err, ErrLeaseRecord):
		return err
	case err == nil && lease.Supersedes(w.epoch, w.holder):
		return w.fenced(lease.Epoch, "the record of the lease says so")
	}
	return w.mendRecord()
}

// leaseFile returns an error that wraps [ErrFenced] if the lease file is not,
// or no longer, the one of which this process holds the lock.
func (w *Writer) leaseFile() error {
	err := w.lease.Kept()
	if errors.Is(err, store.Lost) || errors.Is(err, ErrBusy) {
		err = fmt.Errorf("owner %s: %w: %w", w.owner, ErrFenced, err)
		if !errors.Is(err, statedir.ErrIrregular) { // a second name can go away again
			w.queue.poison(err)
		}
	}
	return err
}

// acquire takes the owner's lock. Where that is lost and the lease with it, as
// when the whole directory was deleted, the error wraps [ErrFenced].
func (w *Writer) acquire(ctx context.Context, wait time.Duration) error {
	err := w.lock.Acquire(ctx, wait)
	if w.lease != nil && errors.Is(err, store.Lost) {
		err = cmp.Or(w.leaseFile(), err)
	}
	return err
}

// unmoved returns an error that wraps [store.Moved] if the directory's path no
// longer names it, and [ErrFenced] too if this is the lease's holder: another
// one may hold the lease that is at the path now. A directory that comes back
// has it still.
func (w *Writer) unmoved() error {
	err := w.dir.Unmoved()
	if w.lease != nil && errors.Is(err, store.Moved) {
		err = fmt.Errorf("owner %s: %w: %w", w.owner, ErrFenced, err)
	}
	return err
}

// fenced ends this Writer for good.
func (w *Writer) fenced(epoch uint64, why string) error {
	err := fmt.Errorf("owner %s: %w: this process held epoch %d, and epoch %d has begun: %s; open the owner again", w.owner, ErrFenced, w.epoch, epoch, why)
	w.queue.poison(err)
	return err
}

func (w *Writer) mendRecord() error {
	lease, err := w.readRecord()
	if err != nil {
		return err
	}
	if err := w.record(lease); err != nil {
		return err
	}
	if w.notice != nil {
		w.notice(fmt.Errorf("owner %s: %w: it was not as this process, which holds the lease, had left it, and was written anew: nothing to do", w.owner, ErrLeaseRecord))
	}
	return nil
}

// giveBack takes this process out of the record, if the record is still its
// own. It is for people: the lease itself goes with the lock.
func (w *Writer) giveBack(ctx context.Context) error {
	if w.lease == nil || w.holder == nil || errors.Is(w.queue.failed(), ErrFenced) {
		return nil
	}
	if w.dir.Unmoved() != nil || w.lease.Kept() != nil {
		return nil // what stands there now is somebody else's
	}
	if err := w.lock.Acquire(ctx, w.wait); err != nil {
		return err
	}
	defer w.lock.Release()
	lease, err := w.readRecord()
	if err != nil {
		return err
	}
	if lease.Epoch > w.epoch || lease.Holder != nil && !lease.HeldBy(w.holder.Identity, w.epoch) {
		return nil
	}
	w.holder = nil
	return w.record(lease)
}
