package sidecar

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/document"
	"github.com/freehold-dev/freehold/sidecar/internal/failpoint"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// spool is what a Writer needs to defer.
type spool struct {
	mu   sync.Mutex
	last time.Time
	mine decider // the owner's own sidecar, read without a lock
	// sizes are those of the files that were there when the last one was deferred.
	sizes map[string]int64
}

// next returns the time of the next patch.
func (s *spool) next(now time.Time) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !now.After(s.last) { // the clock went back, or stands
		now = s.last.Add(1)
	}
	s.last = now
	return now
}

// mayDefer reports whether r, which did not get the lock and has not called its
// function, is to be deferred. Whoever called it off is not.
func (w *Writer) mayDefer(ctx context.Context, r *request) bool {
	return w.known.Defers() && w.declared.Defers() && r.tx == nil && !errors.Is(ctx.Err(), context.Canceled)
}

// deferUpdate calls r's function on a Tx that only writes, and keeps what it did
// in a file of its own. busy says why there is no lock.
func (w *Writer) deferUpdate(r *request, busy error) (Commit, error) {
	failpoint.Hit(failpoint.PendingBusy)
	if err := w.dir.Unmoved(); err != nil {
		return Commit{}, err
	}
	others := maps.Clone(r.others)
	if others == nil {
		others = map[string]*snapshot{}
	}
	others[w.owner] = w.lookAt(w.owner, &w.spool.mine)
	r.tx = &Tx{batch: &batch{w: w}, others: others, busy: busy}
	r.run()
	if r.tx.err != nil {
		return Commit{}, r.tx.err
	}
	if len(r.tx.ops) == 0 {
		return w.nothingPending(others[w.owner], busy)
	}
	return w.putPending(r.tx.ops, busy)
}

// nothingPending ends an Update that changes nothing of the sidecar mine, which
// was read without the lock: whoever wrote it may have been killed before it was
// durable.
func (w *Writer) nothingPending(mine *snapshot, busy error) (Commit, error) {
	if mine.err != nil {
		return Commit{}, mine.err
	}
	if w.declared.EffectiveDurability() == schema.Power {
		if err := w.dir.Sync(); err != nil {
			return Commit{}, errors.Join(busy, err)
		}
	}
	return Commit{Outcome: Unchanged, Version: mine.doc.Version}, nil
}

// putPending writes the file of a patch. What fails before it has its name for
// good has changed nothing; after that, nobody knows.
func (w *Writer) putPending(ops Patch, busy error) (Commit, error) {
	p := &PendingPatch{At: w.spool.next(w.clock()), Writer: document.Writer{Program: w.program, Identity: self()}, Ops: ops}
	if err := w.roomKept(); err != nil {
		return Commit{}, fmt.Errorf("%w; and the patch cannot be deferred, nothing was changed: %w", busy, err)
	}
	a, err := w.dir.OpenPending(w.owner)
	if err != nil {
		return Commit{}, fmt.Errorf("%w; and the patch cannot be deferred, nothing was changed: %w", busy, err)
	}
	defer a.Close()
	if err := a.Share(); err != nil {
		return Commit{}, fmt.Errorf("%w; and the patch cannot be deferred, nothing was changed: %w", busy, err)
	}
	defer a.Unshare()
	if err := w.still(); err != nil { // nobody upgrades while the directory is shared
		return Commit{}, err
	}
	if err := w.putInOrder(a, p, busy); errors.Is(err, ErrIndeterminate) {
		return Commit{Version: Version{Nonce: p.ID}}, err
	} else if err != nil {
		return Commit{}, err
	}
	c := Commit{Outcome: Deferred, Version: Version{Nonce: p.ID}}
	if err := a.Unmoved(); err != nil {
		return Commit{Version: c.Version}, fmt.Errorf("%w: the patch %s is in a directory that was moved away, where nobody looks, and counts if that is put back: %w", ErrIndeterminate, p.ID, err)
	}
	if w.declared.EffectiveDurability() != schema.Power || failpoint.Omitted(failpoint.RulePatchSaved) {
		return c, nil
	}
	if err := a.Sync(); err != nil {
		return Commit{Version: c.Version}, fmt.Errorf("%w: the patch %s is deferred and may not survive a crash: %w; ask Resolve", ErrIndeterminate, p.ID, err)
	}
	return c, nil
}

// room says, as a part of a sentence, why one more patch would be too much. It
// remembers what the others weigh: to look at thousands of them again would be
// most of what it costs to defer one more.
func (s *spool) room(a *store.PendingDir, names []string, size int) error {
	s.mu.Lock()
	sizes, bytes, err := a.Sizes(names, s.sizes)
	s.sizes = sizes
	s.mu.Unlock()
	switch {
	case err != nil:
		return err
	case size > MaxPatch:
		return fmt.Errorf("the patch has more than the %d bytes that can be deferred", MaxPatch)
	case len(names) >= MaxPending:
		return fmt.Errorf("%d pending patches already, no more are allowed", len(names))
	case bytes+int64(size) > MaxPendingBytes:
		return fmt.Errorf("with this one, the pending patches would have more than the %d bytes allowed", MaxPendingBytes)
	}
	return nil
}

// WriteOnly reports whether the owner's lock was not to be had, so that what is
// written is deferred: nothing of the owner's own can be read then.
func (tx *Tx) WriteOnly() bool {
	tx.check()
	return tx.busy != nil
}

// Busy returns why the owner's lock was not to be had, if what is written is set
// pending, else nil. An Update whose function returns it is never deferred.
func (tx *Tx) Busy() error {
	tx.check()
	return tx.busy
}

// blind fails the Update if tx only writes: what it wants to read, only the
// holder of the lock knows.
func (tx *Tx) blind() bool {
	if tx.busy != nil {
		tx.fail(fmt.Errorf("%w; a pending patch cannot depend on what is stored: read a view before, or write only", tx.busy))
	}
	return tx.busy != nil
}

// record keeps op for the pending patch, after checking all of it
// that does not depend on what is stored.
func (tx *Tx) record(f schema.Field, op Op, carried bool) (err error) {
	keep := true
	switch f.EffectiveKind() {
	case schema.Map:
		keep, err = tx.recordKey(f, &op, carried)
	case schema.Set:
		op.Value, err = elementOf(f, op)
	default:
		op.Value, err = tx.recordValue(f, tx.batch.w.knows(op.Field, f), op, carried)
		if err == nil { // whoever folds it in cannot ask for another token
			_, err = tx.batch.w.observe(f, op, slot{raw: op.Value, set: true})
		}
	}
	if err == nil && keep {
		tx.ops = append(tx.ops, op)
	}
	return err
}

// recordValue returns the operand of op, normalized.
func (tx *Tx) recordValue(spec, known schema.Field, op Op, carried bool) ([]byte, error) {
	value, err := subject{spec, known, slot{}, carried}.apply(op)
	return value.raw, invalid(err)
}

// recordKey checks op on a map and gives it the incarnation that it means. It
// returns false if op changes nothing.
func (tx *Tx) recordKey(f schema.Field, op *Op, carried bool) (keep bool, err error) {
	if err := schema.CheckKey(op.Key); err != nil {
		return false, invalid(err)
	}
	decider, decides := tx.decides(op.Field)
	keys, err := tx.others[decider].keys(op.Field)
	if err != nil {
		return false, err
	}
	now := keys.slot(op.Key)
	if !decides {
		if err := tx.attaches(decider, now, op.At); err != nil {
			return false, err
		}
	}
	switch {
	case decides && op.At.IsPending(): // nobody has taken it in yet, or somebody has: the fold says
	case !op.At.IsZero() && (!now.set || !means(op.At, now.born)):
		return false, fmt.Errorf("%w: it is no longer the incarnation %v: look at the map again", ErrConflict, op.At)
	case now.set:
		op.At = now.born
	}
	if op.Verb == VerbDelete || op.Verb == VerbInsert && op.Member == "" {
		if err := tx.mayWhole(f, *op); err != nil {
			return false, err
		}
		return op.Verb == VerbDelete || !now.set, nil
	}
	spec, err := tx.member(f, *op)
	if err != nil {
		return false, err
	}
	known := spec
	if member, ok := tx.batch.w.knows(op.Field, f).Member(op.Member); ok {
		known = member
	}
	op.Value, err = tx.recordValue(spec, known, *op, carried)
	return true, err
}
