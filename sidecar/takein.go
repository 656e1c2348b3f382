package sidecar

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/apply"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/freehold-dev/freehold/sidecar/internal/pending"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// mostKept bounds the patches that one version rejects: each is kept durably by
// itself.
const mostKept = 64

// takeSome takes as many of patches into the batch as one version has room for,
// and returns the rest, as far as another version may have.
func (b *batch) takeSome(patches []*pending.Patch) (rest []*pending.Patch) {
	w := b.w
	for i, p := range patches {
		size := 2 * len(p.Raw)
		if full := b.size+size+len(w.lastRaw) > document.MaxSize*3/4 || b.fold.kept >= mostKept; !full {
			if b.takePatch(p) {
				b.size += size
			}
			continue
		}
		if b.size+b.fold.kept == 0 {
			b.stick(pending.Name(p.ID), fmt.Errorf("%w: the sidecar is nearly full; store less in it", ErrValue))
			return nil
		}
		return patches[i:]
	}
	return nil
}

// another publishes what is folded, and begins another version of the same
// commit.
func (b *batch) another() error {
	switch err := b.publish(); {
	case errors.Is(err, store.Moved): // as below, but that the directory was moved away stays true
		return cmp.Or(b.w.unmoved(), errors.New(err.Error()))
	case errors.Is(err, ErrIndeterminate): // the patches may be folded or not; the rest is certain
		return errors.New(err.Error())
	case err != nil:
		return err
	}
	cleared := b.clear()
	if err := b.w.queue.failed(); err != nil { // the rest is certain here, too
		return err
	}
	base := b.base
	if !b.idle() {
		base = b.w.last
	}
	f := fold{pending: b.fold.pending, before: b.fold.before + len(b.fold.fresh), stuck: b.fold.stuck}
	if !cleared { // their files may be there: the next version has to say that it has them
		f.listed, f.done, f.out = b.fold.listed, b.fold.done, b.fold.out
	}
	others, next := b.layer.Others, b.w.nextVersion(base)
	*b = batch{w: b.w, requests: b.requests, base: base, next: next, layer: apply.NewLayer(b.w.rules, base, next), fold: f}
	b.layer.Others = others
	return nil
}

// errUnfinished is why a commit stops between two versions.
var errUnfinished = errors.New("there was no time to fold all that is deferred")

// unfinished ends a commit that was stopped, as why says, when it had folded
// pending patches but for left patches.
func (b *batch) unfinished(left int, why error) error {
	err := fmt.Errorf("%s: not applied: %w: %w: of %d patches, %d are folded, and the next commit goes on with the rest",
		b.w.file(), ErrBusy, why, b.fold.before+left, b.fold.before)
	return store.WithRemedy(err, store.By(store.VerbFold, b.w.owner).Or("try again"))
}

// takePatch folds p into the batch and reports whether it did.
func (b *batch) takePatch(p *pending.Patch) bool {
	name := pending.Name(p.ID)
	gone, err := []error(nil), error(schema.ErrOverflow)
	if !b.wasRejected(p) {
		if b.layer.Others == nil {
			b.layer.Others = b.w.look()
		}
		gone, err = b.layer.Fold(p.Ops, Version{Epoch: b.next.Epoch, Revision: b.next.Revision, Nonce: p.ID}, p.Provenance(b.next))
	}
	switch {
	case errors.Is(err, schema.ErrOverflow):
		if b.reject(p, err) {
			b.fold.out = append(b.fold.out, name)
		}
		return false
	case err != nil: // of a newer release or declaration, or of a map whose keys cannot be read
		b.stick(name, fmt.Errorf("%w: it stays until it can be", err))
		return false
	}
	for _, err := range gone {
		b.w.tell(name, fmt.Errorf("%s: left out: %w: it came before the deletion of the key: nothing to do", b.fold.pending.Path(name), err))
	}
	b.fold.listed = append(b.fold.listed, p.ID)
	b.fold.fresh = append(b.fold.fresh, p.ID)
	b.fold.done = append(b.fold.done, name)
	return true
}
