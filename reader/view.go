package reader

import (
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// Consistency says what the sidecars of a view have to do with each other.
type Consistency string

// The consistencies of a view.
const (
	// Atomic: all sidecars stood like this at one moment.
	Atomic Consistency = "atomic"
	// Causal: nothing in the view has observed something newer than the view
	// holds, but writers were too fast to show that all of it stood at one
	// moment.
	Causal Consistency = "causal"
)

// A View is a state at one snapshot: the union of all owners' fields. It is
// immutable and safe for concurrent use, also after its [Reader] was closed.
type View struct {
	dir         string
	declared    *declared
	owners      []*owner // in the order of declared.owners
	claims      []*claim // in the order of declared.once
	consistency Consistency
	id          string
}

func newView(dir string, d *declared, sources []*ownerSource, claims []*claimSource, c Consistency) *View {
	v := &View{dir: dir, declared: d, owners: make([]*owner, len(sources)), consistency: c}
	for i, s := range sources {
		v.owners[i] = s.owner()
	}
	for _, s := range claims {
		v.claims = append(v.claims, s.claim())
	}
	v.markRegressed()
	v.id = snapshotID(d.manifest.StateID, v.owners, v.claims)
	return v
}

// markRegressed marks the owners whose sidecars are older than the version that an
// upgrade wrote or another owner in the view has observed, or gone.
func (v *View) markRegressed() {
	for i, written := range v.declared.upgraded {
		v.owners[i] = v.owners[i].against(store.Sighting{Version: written})
	}
	for _, o := range v.owners {
		for _, seen := range o.sightings {
			if p, ok := v.declared.fields[seen.Of]; ok {
				v.owners[p.owner] = v.owners[p.owner].against(seen)
			}
		}
	}
}

// Dir returns the absolute path of the state directory.
func (v *View) Dir() string { return v.dir }

// State returns the name of the state.
func (v *View) State() string { return v.declared.declaration.State }

// StateID returns the random id of this state directory; versions compare only
// within one.
func (v *View) StateID() string { return v.declared.manifest.StateID }

// Consistency returns what the sidecars in the view have to do with each other.
func (v *View) Consistency() Consistency { return v.consistency }

// ID names the snapshot. Two views with equal ids, also of different readers, hold
// the same versions of everything.
func (v *View) ID() string { return v.id }

// Declaration returns what the view went by: the manifest's declaration and,
// after [OpenAs], what the program's adds to it. It must not be changed.
func (v *View) Declaration() *schema.Declaration { return v.declared.declaration }

// Owner returns what was found of an owner, or false if no such owner is
// declared.
func (v *View) Owner(name string) (OwnerStatus, bool) {
	i, ok := slices.BinarySearchFunc(v.owners, name, func(o *owner, name string) int { return strings.Compare(o.Name, name) })
	if !ok {
		return OwnerStatus{}, false
	}
	return v.owners[i].OwnerStatus, true
}

// Owners returns what was found of every declared owner, sorted by name.
func (v *View) Owners() []OwnerStatus {
	statuses := make([]OwnerStatus, len(v.owners))
	for i, o := range v.owners {
		statuses[i] = o.OwnerStatus
	}
	return statuses
}

// Field returns the field name as it is stored. An undeclared name is an error
// of [Entry.Raw].
func (v *View) Field(name string) Entry { return Entry{view: v, name: name} }
