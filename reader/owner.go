package reader

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// An OwnerStatus is one owner in a view.
type OwnerStatus struct {
	// Name of the owner.
	Name string
	// File is the absolute path of its sidecar.
	File string
	// Status of the sidecar.
	Status store.Status
	// Version of the sidecar. Zero unless Status is [store.OK] or
	// [store.Regressed], and of the latter if the file is gone.
	Version store.Version
	// WrittenAt is the time of that version, by the writer's clock; or zero.
	WrittenAt time.Time
	// Pending is the number of pending patches that the sidecar lacks, or may
	// lack if it cannot be used. The view shows them, except those that
	// PendingErr is about.
	Pending    int
	PendingErr error
	// Err is a [store.Error] with the remedy. Nil if Status is
	// [store.OK] or [store.Missing].
	Err error
}

// An owner is one owner in a view. It is immutable, and shared by the views
// between two changes.
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

// against returns the owner, regressed if it cannot have followed the version that
// was seen. Dependents were read first, so that no commit between the readings
// explains the difference.
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

// A claim is one once field in a view. It is immutable, and shared by the views
// between two changes.
type claim struct {
	once  *store.Once
	value []byte // the time of the claim as JSON; nil unless there is one
	from  Provenance
	mark  []byte // tells this claim from every other, for snapshotID
}

func newClaim(once *store.Once, text []byte) *claim {
	c := &claim{once: once, from: Provenance{Owner: once.Owner, File: once.Path, Status: once.Status}}
	if once.Status == store.OK {
		c.value, _ = schema.Time.Append(nil, once.At) // a decoded time is one of the format
		c.from.Claim, c.from.ChangedAt = once.ID, once.At
		c.from.Program, c.from.PID = once.Writer.Program, once.Writer.Identity.PID
	}
	c.mark = c.appendMark(nil, text)
	return c
}

// A claimSource reads one once field again and again.
type claimSource struct {
	*store.OnceSource
	last *claim
}

// claim returns the field as it was read last.
func (s *claimSource) claim() *claim {
	if once := s.Once(); s.last == nil || s.last.once != once {
		s.last = newClaim(once, s.Text())
	}
	return s.last
}

func (e Entry) isOnce() bool {
	p, err := e.place()
	return err == nil && p.field.EffectiveKind() == schema.Once
}

// claim returns the claim of a once field.
func (e Entry) claim() *claim { return e.view.claims[e.view.declared.fields[e.name].claim] }

func (c *claim) provenance() (Provenance, bool) { return c.from, c.from.Status == store.OK }

// stored returns the value of the once field that where names.
func (c *claim) stored(where string) ([]byte, error) {
	switch c.from.Status {
	case store.OK:
		return c.value, nil
	case store.Missing:
		return nil, fmt.Errorf("%s: %w: not claimed", where, ErrUnset)
	}
	return nil, fmt.Errorf("%s: %w", where, c.once.Err)
}
