package sidecar

import (
	"fmt"

	"github.com/freehold-dev/freehold/sidecar/document"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// self is the identity of this process, which tests change to that of a
// process on another boot.
var self = process.Self

// farthestClock is where the clock stops to count for epochs, in the year
// 2112: a clock that runs wild must not use up the numbers.
const farthestClock = 1 << 52

// mostBelieved is the largest epoch that is believed where no sum vouches for
// it: it leaves more epochs above than anybody will begin, so that a forged
// number cannot use them up. Epochs that follow a forged one may pass it; then
// a sidecar vouches for them.
const mostBelieved = document.MaxEpoch - 1<<32

// believed reports whether an epoch that a record names counts, though nothing
// vouches for a record, where the sidecar vouches for the epoch vouched. Leases
// that end without a commit leave the sidecar behind, by less than a slack.
func believed(epoch, vouched uint64) bool {
	const slack = 1 << 31
	return epoch < mostBelieved || epoch <= vouched+slack && vouched >= mostBelieved
}

// vouchedEpoch returns the epoch of owner's sidecar if its sum vouches for it,
// or 0.
func vouchedEpoch(d *store.Store, owner, state string) uint64 {
	raw, err := d.ReadFile(store.Sidecar(owner), nil, document.MaxSize)
	if err != nil {
		return 0
	}
	doc, err := document.Decode(raw)
	if err != nil || doc.Belongs(owner, state) != nil {
		return 0
	}
	return doc.Version.Epoch
}

// newEpoch returns an epoch that is larger than those given, than every other
// epoch of this owner that is visible from here, and than the clock in
// microseconds. So no version that anybody has seen is ever issued again, even
// if the sidecar was lost or an older copy of it came back; where nothing is
// visible any more and the clock went back too, the nonce still differs.
func (w *Writer) newEpoch(visible ...uint64) uint64 {
	top := max(w.epoch, w.seen.Epoch)
	for _, epoch := range visible {
		top = max(top, epoch)
	}
	clock := uint64(max(w.clock().UnixMicro(), 0))
	return max(top+1, min(clock, farthestClock))
}

// sidecarEpoch returns the largest epoch that owner's sidecar shows, whatever
// its state: a sum that does not match vouches for nothing, and the epoch
// still may have been seen. Where there is no sound sidecar, the copies in the
// quarantine count too.
func (w *Writer) sidecarEpoch() uint64 {
	doc, err := w.read()
	if err == nil && !doc.Version.IsZero() {
		return doc.Version.Epoch
	}
	epoch := w.quarantinedEpoch()
	if raw, err := w.dir.ReadFile(store.Sidecar(w.owner), nil, document.MaxSize); err == nil {
		epoch = max(epoch, foreignEpoch(raw))
	}
	return epoch
}

func (w *Writer) quarantinedEpoch() (epoch uint64) {
	// What cannot be read is not visible: the clock and the nonce remain.
	_ = w.dir.Quarantined(store.Sidecar(w.owner), func(_ string, raw []byte) {
		epoch = max(epoch, foreignEpoch(raw))
	})
	return epoch
}

// foreignEpoch returns the epoch of a sidecar that nothing vouches for, or 0.
func foreignEpoch(raw []byte) uint64 {
	doc, err := document.DecodeForeign(raw)
	if err != nil {
		return 0
	}
	return believable(doc.Version.Epoch)
}

// believable returns an epoch for which nothing vouches, or 0 if it cannot have
// been begun.
func believable(epoch uint64) uint64 {
	if epoch > mostBelieved {
		return 0
	}
	return epoch
}

// Ends returns an error that wraps [ErrInvalid] if doc, which Freehold could have
// written, has the largest epoch, or the largest number of a pending patch.
// Nobody gets there by counting: another hand has written that, and the sum, too.
// Nothing is lost, and no number begins again at the bottom; but sooner or later
// nobody can write, or deferred.
func Ends(doc *document.Document) error {
	what := ""
	switch {
	case doc.Version.Epoch >= document.MaxEpoch:
		what = "epoch"
	case doc.Taken() >= document.MaxEpoch:
		what = "number of a pending patch"
	default:
		return nil
	}
	return fmt.Errorf("%w: it has the largest %s there is, %d, which only another hand can have written, so that none can follow: look at it, move it away, and set anew what is to stay", ErrInvalid, what, uint64(document.MaxEpoch))
}

// follows returns an error if there is no version v to follow base.
func (w *Writer) follows(base *document.Document, v Version) error {
	switch {
	case v.Epoch > document.MaxEpoch:
		return fmt.Errorf("%s: nothing was changed: %w", w.file(), Ends(base))
	case v.Revision > document.MaxEpoch:
		return fmt.Errorf("%s: %w: nothing was changed: it has the largest revision there is: open the owner again, which begins another epoch", w.file(), ErrInvalid)
	}
	return nil
}

// nextVersion returns the version of a commit on top of base.
func (w *Writer) nextVersion(base *document.Document) Version {
	v := Version{Epoch: base.Version.Epoch, Revision: base.Version.Revision + 1, Nonce: process.NewNonce()}
	switch {
	case w.lease != nil:
		if v.Epoch != w.epoch {
			v.Epoch, v.Revision = w.epoch, 1
		}
		if w.seen.Epoch == w.epoch { // an older copy may have come back
			v.Revision = max(v.Revision, w.seen.Revision+1)
		}
	case base.Version.IsZero():
		v.Epoch, v.Revision = w.newEpoch(w.quarantinedEpoch()), 1 // nobody has observed one: see regressed
	case base.Writer.Identity.Boot != self().Boot, behind(base.Version, w.seen), base.Version.Revision == document.MaxEpoch:
		v.Epoch, v.Revision = w.newEpoch(base.Version.Epoch, w.observedEpoch()), 1
	}
	return v
}

// behind reports whether the version v cannot follow seen: it is older, or is
// another one of the same number. An older copy of the sidecar was put back.
func behind(v, seen Version) bool {
	if v.Epoch != seen.Epoch {
		return v.Epoch < seen.Epoch
	}
	return v.Revision < seen.Revision || v.Revision == seen.Revision && v.Nonce != seen.Nonce
}

// see remembers the newest version that this Writer has read or written.
func (w *Writer) see(v Version) {
	if !behind(v, w.seen) {
		w.seen = v
	}
}
