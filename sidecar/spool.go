package sidecar

import (
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
	"github.com/freehold-dev/freehold/sidecar/internal/status"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// A spool writes the pending patches of a Writer that defers.
type spool struct {
	mine  neighbour // the owner's own sidecar, read without a lock
	mu    sync.Mutex
	sizes map[string]int64 // of the files that were there at the last deferral
}

// deferUpdate calls r's function on a Tx that only writes, and defers the
// operations. busy is the reason why there is no lock.
func (w *Writer) deferUpdate(r *request, busy error) (Commit, error) {
	failpoint.Hit(failpoint.PendingBusy)
	if err := w.dir.Unmoved(); err != nil {
		return Commit{}, err
	}
	mine := w.keysOf(w.owner, &w.spool.mine)
	layer := apply.NewLayer(w.rules, document.New(w.owner, w.manifest.StateID), Version{}).On(r.others)
	r.tx = &Tx{batch: &batch{w: w}, layer: layer, others: r.others, mine: mine, busy: busy}
	r.run()
	if r.tx.err != nil {
		return Commit{}, r.tx.err
	}
	if len(r.tx.ops) > 0 {
		return w.spool.put(&w.site, r.tx.ops, busy)
	}
	doc, err := mine.Doc()
	if err == nil && w.declared.EffectiveDurability() == schema.Power { // its writer may have been killed before it was durable
		if serr := w.dir.Sync(); serr != nil {
			err = errors.Join(busy, serr)
		}
	}
	if err != nil {
		return Commit{}, err
	}
	return Commit{Outcome: Unchanged, Version: doc.Version}, nil
}

// put writes the file of a patch. An error before the file has its name means
// that nothing changed; after that, the error is indeterminate.
func (s *spool) put(at *site, ops Patch, busy error) (Commit, error) {
	p := &pending.Patch{ID: process.NewNonce(), At: at.clock(), Writer: document.Writer{Program: at.program, Identity: self()}, Ops: ops}
	raw, err := p.Encode(at.owner, at.manifest.StateID)
	if err != nil {
		return Commit{}, fmt.Errorf("%s: %w: %w", at.path, ErrValue, err)
	}
	undeferred := func(err error) (Commit, error) {
		return Commit{}, fmt.Errorf("%w; and the patch could not be stored for later, nothing was changed: %w", busy, err)
	}
	if err := at.rejectedFull(); err != nil {
		return undeferred(err)
	}
	a, err := at.dir.OpenPending(at.manifest, at.owner)
	if err != nil {
		return undeferred(err)
	}
	defer a.Close()
	if err := a.Share(); err != nil {
		return undeferred(err)
	}
	defer a.Unshare()
	if err := at.still(); err != nil { // nobody upgrades while the directory is shared
		return Commit{}, err
	}
	names, err := a.Names()
	if err != nil {
		return undeferred(err)
	}
	if err := s.full(a, names, len(raw)); err != nil { // concurrent writers may exceed a bound by one patch each
		err = fmt.Errorf("%w; and %s: nothing was changed", busy, err)
		return Commit{}, store.WithRemedy(err, store.By(status.Fold, at.owner).Or("end the process that holds the lock, or wait for it"))
	}
	if err := a.Put(pending.Name(p.ID), raw); err != nil {
		return Commit{}, fmt.Errorf("%s: nothing was changed: %w; mend that and try again", at.path, err)
	}
	failpoint.Hit(failpoint.PendingPut)
	return at.acknowledge(a, p.ID)
}

// acknowledge returns the outcome of the patch id once its file is durable and
// in the directory that everybody reads.
func (s *site) acknowledge(a *statedir.PendingDir, id string) (Commit, error) {
	v := Version{Nonce: id}
	if err := a.Unmoved(); err != nil {
		return Commit{Version: v}, fmt.Errorf("%w: the patch %s is in a directory that was moved away, where nobody looks, and counts if that is put back: %w", ErrIndeterminate, id, err)
	}
	if s.declared.EffectiveDurability() == schema.Power {
		if err := a.Sync(); err != nil {
			return Commit{Version: v}, fmt.Errorf("%w: the patch %s is deferred and may not survive a crash: %w; ask Resolve", ErrIndeterminate, id, err)
		}
	}
	return Commit{Outcome: Deferred, Version: v}, nil
}

// full returns, as a part of a sentence, why one more patch would be too much. It
// remembers the sizes of the other files: to look at thousands of them again
// would be most of the cost of a deferral.
func (s *spool) full(a *statedir.PendingDir, names []string, size int) error {
	s.mu.Lock()
	sizes, bytes, err := a.Sizes(names, s.sizes)
	s.sizes = sizes
	s.mu.Unlock()
	switch {
	case err != nil:
		return err
	case size > pending.MaxSize:
		return fmt.Errorf("the patch has more than the %d bytes that can be deferred", pending.MaxSize)
	case len(names) >= MaxPending:
		return fmt.Errorf("%d pending patches already, no more are allowed", len(names))
	case bytes+int64(size) > MaxPendingBytes:
		return fmt.Errorf("with this one, the pending patches would have more than the %d bytes allowed", MaxPendingBytes)
	}
	return nil
}

// rejectedFull returns why one more patch could be too much of rejected patches.
// If the quarantine cannot be read, no patch can be rejected: patches stay where
// they are deferred, which has bounds of its own.
func (s *site) rejectedFull() error {
	kept, err := s.dir.Quarantine().Rejected(statedir.OwnerPending(s.owner))
	if err != nil || kept < pending.MostRejected {
		return nil
	}
	err = fmt.Errorf("%d patches of the owner are rejected in %s, and no more may be", kept, s.dir.Quarantine().Path(""))
	return store.WithRemedy(err, store.By(status.Doctor).Or("look at the rejected patches, add by hand the values that are to count, and remove their files"))
}
