package reader

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// Consistency says how the sidecars of a view stood to each other.
type Consistency string

// The consistencies of a view.
const (
	// Atomic: all sidecars stood like this at one moment.
	Atomic Consistency = "atomic"
	// Causal: no owner in the view has observed anything newer than the view
	// holds, but writers were too fast for an atomic view.
	Causal Consistency = "causal"
)

// A View is the union of all owners' fields at one snapshot. It is immutable and
// safe for concurrent use, also after its [Reader] was closed.
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

// markRegressed marks the owners with sidecars that are gone, or older than a version
// that an upgrade wrote or another owner has observed.
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

// StateID returns the random id of the state. Versions of two states do not
// compare.
func (v *View) StateID() string { return v.declared.manifest.StateID }

// Consistency returns how the sidecars in the view stood to each other.
func (v *View) Consistency() Consistency { return v.consistency }

// ID names the snapshot: views with equal ids, also of different readers, hold the
// same versions of everything.
func (v *View) ID() string { return v.id }

// Declaration returns the manifest's declaration with the additions of the
// program's, see [OpenAs]. It must not be changed.
func (v *View) Declaration() *schema.Declaration { return v.declared.declaration }

// Owner returns the status of an owner, or false if the owner is not declared.
func (v *View) Owner(name string) (OwnerStatus, bool) {
	i, ok := slices.BinarySearchFunc(v.owners, name, func(o *owner, name string) int { return strings.Compare(o.Name, name) })
	if !ok {
		return OwnerStatus{}, false
	}
	return v.owners[i].OwnerStatus, true
}

// Owners returns the status of every declared owner, sorted by name.
func (v *View) Owners() []OwnerStatus {
	statuses := make([]OwnerStatus, len(v.owners))
	for i, o := range v.owners {
		statuses[i] = o.OwnerStatus
	}
	return statuses
}

// Field returns a field. An undeclared name is an error of [Entry.Raw].
func (v *View) Field(name string) Entry { return Entry{view: v, name: name} }

// Observe returns a token of the present versions of the fields, for the writer of
// a value that is computed from data gathered from now on. It is for the command
// line; programs observe for one field, with a token of its own type. It returns
// an error that wraps [ErrUnknownField] if no owner declares a field, and the error
// of an owner without a usable sidecar. An unset field can be observed too.
func (v *View) Observe(fields ...string) (store.Seen, error) {
	versions := map[string]store.Version{}
	for _, name := range fields {
		e := v.Field(name)
		_, o, err := e.find()
		if err != nil {
			return store.Seen{}, err
		}
		if why := v.declared.declaration.NotObservable(name); why != "" {
			return store.Seen{}, fmt.Errorf("%s: %w: it is %s, and cannot be observed: name another field", e.where(), store.NotObserved, why)
		}
		if o.Err != nil {
			return store.Seen{}, fmt.Errorf("%s: %w", e.where(), o.Err)
		}
		versions[name] = o.version(name)
	}
	return store.SeenOf(v.StateID(), versions), nil
}

// ObserveFor is [View.Observe] for the fields that field depends on. It is for
// generated code.
func (v *View) ObserveFor(field string) (store.Seen, error) {
	spec, _, err := v.Field(field).find()
	if err != nil {
		return store.Seen{}, err
	}
	return v.Observe(spec.DependsOn...)
}

// version returns the version of a field of o; zero if it was never written.
func (o *owner) version(field string) store.Version {
	_, by, _ := o.stored.Field(field)
	return by.Version
}

// The errors of a field wrap one of the first two, or the [store.Status] of an
// owner without a usable sidecar.
var (
	// ErrUnset is returned for a field that its owner never wrote, or cleared.
	ErrUnset = errors.New("unset")
	// ErrUnknownField is returned for a field that no owner declares.
	ErrUnknownField = errors.New("unknown field")
	// ErrClosed is returned by a Reader that was closed.
	ErrClosed = errors.New("the reader is closed")
	// ErrPolling is yielded by a [Reader.Watch] that gets no notices of changes
	// and looks often instead. The watch misses nothing, and is a little later.
	ErrPolling = errors.New("watched by polling")
	// ErrResync is yielded by a [Reader.Watch] that lost notices of changes. The
	// next view has everything that changed.
	ErrResync = errors.New("notices of changes were lost")
)
