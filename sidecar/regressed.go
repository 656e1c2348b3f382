package sidecar

import (
	"iter"
	"maps"
	"slices"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/document"
)

// observers returns the owners whose fields depend on those of owner. What they
// have observed shows whether owner's sidecar was put back.
func observers(d *schema.Declaration, owner string) map[string]*neighbour {
	var all map[string]*neighbour
	for _, other := range d.OwnerNames() {
		if slices.Contains(d.OwnersBelow(other), owner) {
			if all == nil {
				all = map[string]*neighbour{}
			}
			all[other] = new(neighbour)
		}
	}
	return all
}

// Upgraded returns the version of owner's sidecar that an upgrade of the state
// has written last, as the manifest remembers it; zero if it remembers none.
func Upgraded(m *schema.Manifest, owner string) (v Version) {
	_ = v.UnmarshalText([]byte(m.Upgraded[owner])) // a manifest holds none that are wrong
	return v
}

// sightings returns what the manifest remembers of this owner's sidecar, and what
// others have observed of its fields, as their sidecars stand. Those are read
// without a lock; whatever they had seen by then was published before, and so is
// no newer than the owner's sidecar under its lock. A sidecar that cannot be used
// vouches for nothing.
func (w *Writer) sightings() iter.Seq[document.Sighting] {
	return func(yield func(document.Sighting) bool) {
		if !w.upgraded.IsZero() && !yield(document.Sighting{Version: w.upgraded}) {
			return
		}
		for _, owner := range slices.Sorted(maps.Keys(w.observers)) {
			doc, err := w.lookAt(owner, w.observers[owner]).Doc()
			if err != nil {
				continue
			}
			for s := range doc.Sightings() {
				if whose, _ := w.manifest.Declaration.OwnerOf(s.Of); whose == w.owner && !yield(s) {
					return
				}
			}
		}
	}
}

// regressed returns an error that wraps [ErrRegressed] if base, which was read
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
