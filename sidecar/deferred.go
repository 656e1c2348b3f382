package sidecar

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/apply"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/freehold-dev/freehold/sidecar/internal/failpoint"
	"github.com/freehold-dev/freehold/sidecar/internal/pending"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// A spool is the state of a Writer that defers.
type spool struct {
	mu   sync.Mutex
	mine neighbour // the owner's own sidecar, read without a lock
	// sizes are those of the files that were there at the last deferral.
	sizes map[string]int64
}

// mayDefer reports whether r, which did not get the lock and has not called its
// function, is to be deferred. A cancelled one is not.
func (w *Writer) mayDefer(ctx context.Context, r *request) bool {
	return w.known.Defers() && w.declared.Defers() && r.tx == nil && !errors.Is(ctx.Err(), context.Canceled)
}

// deferUpdate calls r's function on a Tx that only writes, and defers
// the operations. busy is the reason why there is no lock.
func (w *Writer) deferUpdate(r *request, busy error) (Commit, error) {
	failpoint.Hit(failpoint.PendingBusy)
	if err := w.dir.Unmoved(); err != nil {
		return Commit{}, err
	}
	mine := w.lookAt(w.owner, &w.spool.mine)
	layer := apply.NewLayer(w.rules, document.New(w.owner, w.manifest.StateID), Version{}).On(r.others)
	r.tx = &Tx{batch: &batch{w: w}, layer: layer, others: r.others, mine: mine, busy: busy}
	r.run()
	if r.tx.err != nil {
		return Commit{}, r.tx.err
	}
	if len(r.tx.ops) == 0 {
		return w.nothingPending(mine, busy)
	}
	return w.putPending(r.tx.ops, busy)
}

// nothingPending ends an Update that changes nothing of the sidecar mine, which
// was read without the lock: its writer may have been killed before the sidecar was
// durable.
func (w *Writer) nothingPending(mine *apply.Keys, busy error) (Commit, error) {
	doc, err := mine.Doc()
	if err != nil {
		return Commit{}, err
	}
	if w.declared.EffectiveDurability() == schema.Power {
		if err := w.dir.Sync(); err != nil {
			return Commit{}, errors.Join(busy, err)
		}
	}
	return Commit{Outcome: Unchanged, Version: doc.Version}, nil
}

// putPending writes the file of a patch. An error before the file has its name
// means that nothing changed; after that, the error is indeterminate.
func (w *Writer) putPending(ops Patch, busy error) (Commit, error) {
	p := &pending.Patch{ID: process.NewNonce(), At: w.clock(), Writer: document.Writer{Program: w.program, Identity: self()}, Ops: ops}
	raw, err := p.Encode(w.owner, w.manifest.StateID)
	if err != nil {
		return Commit{}, fmt.Errorf("%s: %w: %w", w.file(), ErrValue, err)
	}
	if err := w.roomKept(); err != nil {
		return Commit{}, undeferred(busy, err)
	}
	a, err := w.dir.OpenPending(w.owner)
	if err != nil {
		return Commit{}, undeferred(busy, err)
	}
	defer a.Close()
	if err := a.Share(); err != nil {
		return Commit{}, undeferred(busy, err)
	}
	defer a.Unshare()
	if err := w.still(); err != nil { // nobody upgrades while the directory is shared
		return Commit{}, err
	}
	names, err := a.Names()
	if err != nil {
		return Commit{}, undeferred(busy, err)
	}
	if err := w.spool.room(a, names, len(raw)); err != nil { // concurrent writers may exceed a bound by one patch each
		err = fmt.Errorf("%w; and %s: nothing was changed", busy, err)
		return Commit{}, store.WithRemedy(err, store.By(store.VerbFold, w.owner).Or("end the process that holds the lock, or wait for it"))
	}
	if err := a.Put(pending.Name(p.ID), raw); err != nil {
		return Commit{}, fmt.Errorf("%s: nothing was changed: %w; mend that and try again", w.file(), err)
	}
	failpoint.Hit(failpoint.PendingPut)
	return w.acknowledge(a, p.ID)
}

// acknowledge returns the outcome of the patch id once its file is durable and
// in the directory that everybody reads.
func (w *Writer) acknowledge(a *statedir.PendingDir, id string) (Commit, error) {
	c := Commit{Outcome: Deferred, Version: Version{Nonce: id}}
	if err := a.Unmoved(); err != nil {
		return Commit{Version: c.Version}, fmt.Errorf("%w: the patch %s is in a directory that was moved away, where nobody looks, and counts if that is put back: %w", ErrIndeterminate, id, err)
	}
	if w.declared.EffectiveDurability() != schema.Power {
		return c, nil
	}
	if err := a.Sync(); err != nil {
		return Commit{Version: c.Version}, fmt.Errorf("%w: the patch %s is deferred and may not survive a crash: %w; ask Resolve", ErrIndeterminate, id, err)
	}
	return c, nil
}

// undeferred returns the error of a commit that could neither get the lock nor
// be deferred.
func undeferred(busy, err error) error {
	return fmt.Errorf("%w; and the patch could not be stored for later, nothing was changed: %w", busy, err)
}

// room says, as a part of a sentence, why one more patch would be too much. It
// remembers the sizes of the others: to look at thousands of them again would be
// most of the cost of one more.
func (s *spool) room(a *statedir.PendingDir, names []string, size int) error {
	s.mu.Lock()
	sizes, bytes, err := a.Sizes(names, s.sizes)
	s.sizes = sizes
	s.mu.Unlock()
	switch {
	case err != nil:
		return err
	case size > pending.MaxSize:
		return fmt.Errorf("the patch has more than the %d bytes that can be deferred", pending.MaxSize)
	case len(names) >= pending.Most:
		return fmt.Errorf("%d pending patches already, no more are allowed", len(names))
	case bytes+int64(size) > pending.MostBytes:
		return fmt.Errorf("with this one, the pending patches would have more than the %d bytes allowed", pending.MostBytes)
	}
	return nil
}

// WriteOnly reports whether the owner's lock was not to be had, so that writes
// are deferred and the owner's fields cannot be read.
func (tx *Tx) WriteOnly() bool {
	tx.check()
	return tx.busy != nil
}

// blind fails the Update if tx only writes: only the holder of the lock knows
// the values.
func (tx *Tx) blind() bool {
	if tx.busy != nil {
		tx.fail(fmt.Errorf("%w; a pending patch cannot depend on what is stored: read a view before, or write only", tx.busy))
	}
	return tx.busy != nil
}
