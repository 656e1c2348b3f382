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

// Upgraded returns the version of owner's sidecar that an upgrade of the state
// has written last, as the manifest remembers it; zero if it remembers none.
func Upgraded(m *schema.Manifest, owner string) (v Version) {
	_ = v.UnmarshalText([]byte(m.Upgraded[owner])) // a manifest holds none that are wrong
	return v
}

// A sighting is a version of a field of this Writer's owner that another owner's
// program had seen before it wrote its field by. With no owner it is of what an
// upgrade of the state has made.
type sighting struct {
	owner, by, of string
	version       Version
}

// sightings returns what the manifest remembers of this owner's sidecar, and what
// others have observed of its fields, as their sidecars stand. Those are read
// without a lock; whatever they had seen by then was published before, and so is
// no newer than the owner's sidecar under its lock. A sidecar that cannot be used
// vouches for nothing.
func (w *Writer) sightings() iter.Seq[sighting] {
	return func(yield func(sighting) bool) {
		if !w.upgraded.IsZero() && !yield(sighting{version: w.upgraded}) {
			return
		}
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
	if s.owner == "" {
		seen = fmt.Sprintf("an upgrade of the state has written version %v", s.version)
	}
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

// observedEpoch returns the largest epoch of this owner that others have seen or
// an upgrade has begun.
func (w *Writer) observedEpoch() (epoch uint64) {
	for s := range w.sightings() {
		if s.owner == "" || s.version.Epoch <= mostBelieved {
			epoch = max(epoch, s.version.Epoch)
		}
	}
	return epoch
}
