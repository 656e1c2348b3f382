package sidecar

import (
	"fmt"

	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// self is the identity of this process, which tests change to that of a
// process on another boot.
var self = process.Self

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
	const farthest = document.MaxEpoch - 1<<32 // a clock that runs wild must not use up the epochs
	clock := uint64(max(w.clock().UnixMicro(), 0))
	return max(top+1, min(clock, farthest))
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
	if raw, err := w.dir.ReadFile(statedir.Sidecar(w.owner), nil, document.MaxSize); err == nil {
		epoch = max(epoch, foreignEpoch(raw))
	}
	return epoch
}

func (w *Writer) quarantinedEpoch() (epoch uint64) {
	// What cannot be read is not visible: the clock and the nonce remain.
	_ = w.dir.Quarantined(statedir.Sidecar(w.owner), func(_ string, raw []byte) {
		epoch = max(epoch, foreignEpoch(raw))
	})
	return epoch
}

// foreignEpoch returns the epoch of a sidecar that nothing vouches for, or 0 if
// it cannot have been begun.
func foreignEpoch(raw []byte) uint64 {
	doc, err := document.DecodeForeign(raw)
	if err != nil || doc.Version.Epoch >= document.MaxEpoch {
		return 0
	}
	return doc.Version.Epoch
}

// checkVersion returns an error if no file can hold the version v: another hand
// has written the largest epoch or revision there is.
func (w *Writer) checkVersion(v Version) error {
	if v.Epoch <= document.MaxEpoch && v.Revision <= document.MaxRevision {
		return nil
	}
	return fmt.Errorf("%s: %w: nothing was changed: no version can follow the epoch and revision that another hand has written: move the file away", w.file(), store.Invalid)
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
	case base.Writer.Identity.Boot != self().Boot, behind(base.Version, w.seen), base.Version.Revision == document.MaxRevision:
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
