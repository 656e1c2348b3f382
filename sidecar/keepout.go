package sidecar

import (
	"fmt"

	"github.com/freehold-dev/freehold/sidecar/internal/pending"
	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// reject keeps a copy of a patch that is not folded, or not whole, and says
// why. If it cannot, the patch stays where it is.
func (b *batch) reject(p *pending.Patch, why error) bool {
	path, err := b.w.dir.Reject(keptName(b.w.owner, p.ID), p.Raw, why.Error())
	if err != nil {
		b.w.tell(pending.Name(p.ID), fmt.Errorf("%s: not folded: %w; and it cannot be kept elsewhere: %w: mend that", b.fold.pending.Path(pending.Name(p.ID)), why, err))
		return false
	}
	b.fold.kept++
	b.w.tell(pending.Name(p.ID), fmt.Errorf("%s: rejected of %s: %w: look at it there, and add by hand what is to count", path, b.w.file(), why))
	return true
}

// keptName names a patch in the quarantine.
func keptName(owner, id string) string { return statedir.OwnerPending(owner) + "." + id + ".json" }

// roomKept says why one more patch could be too much of those that are rejected.
// Where the quarantine cannot be read, none can be rejected either: they stay
// where they are deferred, which has bounds of its own.
func (w *Writer) roomKept() error {
	kept, err := w.dir.Rejected(statedir.OwnerPending(w.owner))
	if err != nil || kept < pending.MostRejected {
		return nil
	}
	err = fmt.Errorf("%d patches of the owner are rejected in %s, and no more may be", kept, w.dir.QuarantinePath(""))
	return store.WithRemedy(err, store.By(store.VerbDoctor).Or("look at the rejected patches, add by hand the values that are to count, and remove their files"))
}

// wasRejected reports whether an earlier commit has kept p out as a whole, and was
// killed before its file was gone. By now it might fit, and whoever was told may
// have added by hand what is to count.
func (b *batch) wasRejected(p *pending.Patch) bool {
	_, err := b.w.dir.Kept(keptName(b.w.owner, p.ID))
	return err == nil
}

// tell gives the Notice what stops nothing, once for each patch.
func (w *Writer) tell(name string, err error) {
	if w.told == nil {
		w.told = map[string]bool{}
	}
	if w.notice == nil || w.told[name] {
		return
	}
	w.told[name] = true
	w.notice(err)
}
