package sidecar

import (
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/document"
)

// observers returns the owners whose fields depend on those of owner. What they
// have observed shows whether owner's sidecar was put back.
func observers(d *schema.Declaration, owner string) map[string]*decider {
	var all map[string]*decider
	for _, other := range d.OwnerNames() {
		if slices.Contains(d.OwnersBelow(other), owner) {
			if all == nil {
				all = map[string]*decider{}
			}
			all[other] = new(decider)
		}
	}
	return all
}

// A sighting is a version of a field of this Writer's owner that another owner's
// program had seen before it wrote its field by.
type sighting struct {
	owner, by, of string
	version       Version
}

// sightings returns what others have observed of this owner's fields, as their
// sidecars stand. They are read without a lock; whatever they had seen by then
// was published before, and so is no newer than the owner's sidecar under its
// lock. A sidecar that cannot be used vouches for nothing.
func (w *Writer) sightings() iter.Seq[sighting] {
	return func(yield func(sighting) bool) {
		for _, owner := range slices.Sorted(maps.Keys(w.observers)) {
			s := w.lookAt(owner, w.observers[owner])
			if s.err != nil {
				continue
			}
			for by, observed := range s.doc.Observations() {
				for of, version := range observed {
					if whose, _ := w.manifest.Declaration.OwnerOf(of); whose == w.owner && !yield(sighting{owner, by, of, version}) {
						return
					}
				}
			}
		}
	}
}

// regressed says that base is older than somebody has seen it, or gone though
// somebody has seen it: nothing of Freehold removes a sidecar without putting
// another one in its place.
func (w *Writer) regressed(base *document.Document) error {
	for s := range w.sightings() {
		if base.Behind(s.version) {
			return fmt.Errorf("%s: %w: %s, and nothing was changed; bring the newer one back, or run `freehold accept %s` to go on %s",
				w.file(), ErrRegressed, s.against(base.Version), w.owner, after(base.Version))
		}
	}
	return nil
}

// against puts a sighting of something newer than version into words.
func (s sighting) against(version Version) string {
	seen := fmt.Sprintf("owner %s had observed version %v of its field %s before it wrote %s", s.owner, s.version, s.of, s.by)
	if version.IsZero() {
		return "it is gone, and " + seen
	}
	return fmt.Sprintf("it is at version %v, and %s: an older copy was put back", version, seen)
}

func after(version Version) string {
	if version.IsZero() {
		return "without it"
	}
	return "from the old one"
}

// observedEpoch returns the largest epoch of this owner that others have seen.
func (w *Writer) observedEpoch() (epoch uint64) {
	for s := range w.sightings() {
		if s.version.Epoch <= mostBelieved {
			epoch = max(epoch, s.version.Epoch)
		}
	}
	return epoch
}
