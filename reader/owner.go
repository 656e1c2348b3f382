package reader

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/document"
	"github.com/freehold-dev/freehold/sidecar/statedir"
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
)

// An OwnerStatus is what a view found of one owner.
type OwnerStatus struct {
	// Name of the owner.
	Name string
	// File is the absolute path of its sidecar.
	File string
	// Status of the sidecar.
	Status Status
	// Version of the sidecar. Zero unless Status is [OK].
	Version sidecar.Version
	// WrittenAt is when that version was written, by the writer's clock.
	// Zero unless Status is [OK].
	WrittenAt time.Time
	// Err says what is wrong and what to do. Nil if Status is [OK] or
	// [Missing].
	Err error
}

// An owner is what a sidecar was found to be. It is immutable and shared by
// all views of that version.
type owner struct {
	OwnerStatus
	doc *document.Document // nil unless Status is OK
	sum [32]byte           // of the bytes of a sidecar that has no version
}

// found decodes what the source has read.
func (s *source) found(dir, stateID string) *owner {
	if s.read == nil {
		s.read = s.judge(dir, stateID)
	}
	return s.read
}

func (s *source) judge(dir, stateID string) *owner {
	o := &owner{OwnerStatus: OwnerStatus{Name: s.owner, File: filepath.Join(dir, s.file)}}
	switch {
	case errors.Is(s.err, fs.ErrNotExist):
		o.Status = Missing
		return o
	case errors.Is(s.err, statedir.ErrTooLarge):
		return o.bad(Invalid, fmt.Errorf("%w: %w", sidecar.ErrInvalid, s.err))
	case s.err != nil:
		return o.bad(Unreadable, s.err)
	}
	doc, err := document.Decode(s.text)
	if err == nil {
		err = doc.Belongs(s.owner, stateID)
	}
	switch {
	case errors.Is(err, sidecar.ErrForeign):
		o.sum = sum(s.text)
		return o.bad(Foreign, err)
	case err != nil:
		o.sum = sum(s.text)
		return o.bad(Invalid, err)
	}
	o.Status, o.Version, o.WrittenAt, o.doc = OK, doc.Version, doc.WrittenAt, doc
	return o
}

// bad notes what is wrong with the sidecar and what to do.
func (o *owner) bad(status Status, err error) *owner {
	o.Status = status
	newer := new(document.FormatError)
	switch {
	case errors.As(err, &newer): // the error says what to do
		o.Err = fmt.Errorf("%s: %w", o.File, err)
	case status == Unreadable: // the error names the file
		o.Err = fmt.Errorf("%w: %w: make it readable, or run `freehold quarantine %s` to move it aside", sidecar.ErrUnreadable, err, o.Name)
	default:
		o.Err = fmt.Errorf("%s: %w: look at it, then run `freehold accept %s` to take it as it is or `freehold quarantine %s` to move it aside", o.File, err, o.Name, o.Name)
	}
	return o
}
