package reader

import (
	"slices"
	"sync"
	"time"

	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/document"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// Status says whether an owner's sidecar could be used.
type Status string

// The statuses of a sidecar.
const (
	OK         Status = "ok"
	Missing    Status = "missing"    // nothing was ever written
	Invalid    Status = "invalid"    // not of the format, or not of this release's
	Foreign    Status = "foreign"    // written by another hand, or for another owner or state
	Unreadable Status = "unreadable" // permission, input/output, or no plain file
	Regressed  Status = "regressed"  // older than an upgrade wrote it or somebody in the view has observed it, or gone since
)

// An OwnerStatus is what a view found of one owner.
type OwnerStatus struct {
	// Name of the owner.
	Name string
	// File is the absolute path of its sidecar.
	File string
	// Status of the sidecar.
	Status Status
	// Version of the sidecar. Zero unless Status is [OK] or [Regressed], and
	// of the latter if the file is gone.
	Version sidecar.Version
	// WrittenAt is when that version was written, by the writer's clock.
	// Zero where Version is.
	WrittenAt time.Time
	// Pending is how many pending patches and not in the sidecar yet.
	// The view shows them, unless PendingErr says why it does not show some. If
	// the sidecar cannot be used, it may have some of them.
	Pending    int
	PendingErr error
	// Err says what is wrong and what to do. Nil if Status is [OK] or
	// [Missing].
	Err error
}

// An owner is what a sidecar was found to be. It is immutable and shared by
// all views of that version.
type owner struct {
	OwnerStatus
	doc  *document.Document  // with pending patches; nil if there is nothing to read
	mark []byte              // tells what was found from everything else, for snapshotID
	saw  []document.Sighting // what the owner's programs had observed of others' fields

	patches []*sidecar.PendingPatch // those that doc has and the sidecar does not

	mu   sync.Mutex
	maps map[string]*table // the maps that were taken apart so far
}

// found returns what the source's sidecar is.
func (s *source) found(d *declared, dir string) *owner {
	if s.read == nil || s.read.Err != nil && d.attached(s.owner) { // what helps depends on other files
		s.read = s.judge(d)
		s.read.overlay(s.pile, d, dir)
		s.read.mark = s.read.appendPile(s.read.appendMark(nil, s.text), s.pile)
	}
	return s.read
}

func (s *source) judge(d *declared) *owner {
	m := d.manifest()
	m.Pending = d.pending
	from := s.dir.NewOwner(m, s.owner, s.where(), s.text, s.err)
	o := &owner{OwnerStatus: OwnerStatus{Name: s.owner, File: s.path, Status: Status(from.Status), Version: from.Version, WrittenAt: from.WrittenAt, Err: from.Err}}
	if from.Status == store.Newer {
		o.Status = Invalid
	}
	if from.Status == store.OK {
		o.doc, o.saw = from.Document(), slices.Collect(from.Sightings())
	}
	return o
}

func (o *owner) bad(status Status, err error) *owner {
	o.Status, o.Err = status, err
	return o
}
