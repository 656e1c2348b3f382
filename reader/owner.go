package reader

import (
	"path/filepath"
	"slices"
	"time"

	"github.com/freehold-dev/freehold/sidecar/store"
)

// An OwnerStatus is the state of one owner in a view.
type OwnerStatus struct {
	// Name of the owner.
	Name string
	// File is the absolute path of its sidecar.
	File string
	// Status of the sidecar.
	Status store.Status
	// Version of the sidecar. Zero unless Status is [store.OK] or [store.Regressed], and
	// of the latter if the file is gone.
	Version store.Version
	// WrittenAt is when that version was written, by the writer's clock.
	// Zero where Version is.
	WrittenAt time.Time
	// Pending is how many pending patches the sidecar does not have. The view
	// shows them, except those for which PendingErr gives a reason. If the
	// sidecar cannot be used, it may have some of them.
	Pending    int
	PendingErr error
	// Err is a [store.Error] with the remedy. Nil if Status is
	// [store.OK] or [store.Missing].
	Err error
}

// An owner is one owner in a view. It is immutable, and shared by all views
// between two changes of the owner.
type owner struct {
	OwnerStatus
	stored    *store.Owner
	mark      []byte // tells this owner from every other state of it, for snapshotID
	sightings []store.Sighting
}

func newOwner(from *store.Owner, file string) *owner {
	o := &owner{stored: from, sightings: slices.Collect(from.Sightings()), OwnerStatus: OwnerStatus{
		Name: from.Name, File: file, Status: from.Status, Version: from.Version, WrittenAt: from.WrittenAt,
		Pending: from.Pending, PendingErr: from.PendingErr, Err: from.Err,
	}}
	o.mark = o.appendMark(nil)
	return o
}

// against returns the owner, regressed if it cannot have followed the version
// that was seen of it. Dependents were read first, so that no commit between
// the readings explains the difference: an older copy was put back, or the file
// was removed.
func (o *owner) against(seen store.Sighting) *owner {
	from := o.stored.Against(seen)
	if from == o.stored {
		return o
	}
	return newOwner(from, o.File)
}

// An ownerSource reads one owner again and again.
type ownerSource struct {
	*store.Source
	file string
	last *owner
}

func newOwnerSource(dir *store.Store, d *declared, name string) *ownerSource {
	s := &ownerSource{file: filepath.Join(dir.Path(), store.FilesOf(name).Sidecar)}
	if d.defers[name] {
		s.Source = dir.FoldedSource(d.manifest, name)
	} else {
		s.Source = dir.Source(d.manifest, name)
	}
	return s
}

// owner returns the owner as it was read last.
func (s *ownerSource) owner() *owner {
	if from := s.Owner(); s.last == nil || s.last.stored != from {
		s.last = newOwner(from, s.file)
	}
	return s.last
}
