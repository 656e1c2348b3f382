package reader

import (
	"errors"
	"fmt"
	"io/fs"
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
	o := &owner{OwnerStatus: OwnerStatus{Name: s.owner, File: s.path}}
	switch {
	case errors.Is(s.err, fs.ErrNotExist):
		o.Status = Missing
		return o
	case errors.Is(s.err, store.ErrTooLarge) && d.pending != nil:
		return o.bad(Invalid, finishFirst(fmt.Errorf("%w: %w", sidecar.ErrInvalid, s.err)))
	case errors.Is(s.err, store.ErrTooLarge):
		return o.bad(Invalid, fmt.Errorf("%w: %w: run `freehold quarantine %s` to move it aside", sidecar.ErrInvalid, s.err, o.Name))
	case s.err != nil && d.pending != nil:
		return o.bad(Unreadable, finishFirst(fmt.Errorf("%w: %w", sidecar.ErrUnreadable, s.err)))
	case s.err != nil: // it names the file
		return o.bad(Unreadable, fmt.Errorf("%w: %w: mend that, or run `freehold quarantine %s` to move it aside", sidecar.ErrUnreadable, s.err, o.Name))
	}
	doc, err := document.Decode(s.text)
	if err == nil {
		err = doc.Belongs(s.owner, d.stateID)
	}
	if err != nil {
		status := Invalid
		if errors.Is(err, sidecar.ErrForeign) {
			status = Foreign
		}
		if d.pending != nil {
			return o.bad(status, finishFirst(fmt.Errorf("%s: %w", s.where(), err)))
		}
		advice := sidecar.Advice{Dir: s.dir, Manifest: d.manifest()}
		return o.bad(status, fmt.Errorf("%s: %w", o.File, advice.Unusable(o.Name, s.text, err)))
	}
	o.Status, o.Version, o.WrittenAt, o.doc = OK, doc.Version, doc.WrittenAt, doc
	o.saw = slices.Collect(doc.Sightings())
	return o
}

// finishFirst says what to do about anything while an upgrade is not finished:
// until then no sidecar can be repaired, and the one to be repaired may stand
// beside the state's yet.
func finishFirst(err error) error {
	return fmt.Errorf("%w: an upgrade of the state was begun and not finished: run `freehold state upgrade`, which goes on with it and then says what is to do", err)
}

func (o *owner) bad(status Status, err error) *owner {
	o.Status, o.Err = status, err
	return o
}
