package sidecar

import (
	"iter"

	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// sightings returns the versions of this owner's sidecar that an upgrade has
// written or that observers have seen, as their sidecars stand. Those are read
// without a lock; a version that they have seen was published before, and so is
// no newer than the owner's sidecar under its lock.
func (w *Writer) sightings() iter.Seq[store.Sighting] {
	return store.SightingsOf(&w.manifest.Declaration, w.owner, w.upgraded, func(yield func(*store.Owner) bool) {
		for _, source := range w.observers {
			if !yield(source.Read()) {
				return
			}
		}
	})
}

// regressed returns an error that wraps [store.Regressed] if base, which was read
// last, is older than a sighting of it, or gone: nothing of Freehold removes a
// sidecar without putting another one in its place.
func (w *Writer) regressed(base *document.Document) error {
	for s := range w.sightings() {
		if base.Behind(s.Version) {
			return w.source.Owner().Against(s).Err
		}
	}
	return nil
}

// observedEpoch returns the largest epoch of this owner that others have seen or
// an upgrade has begun.
func (w *Writer) observedEpoch() (epoch uint64) {
	for s := range w.sightings() {
		epoch = max(epoch, s.Version.Epoch)
	}
	return epoch
}
