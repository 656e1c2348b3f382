package store

import (
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/claims"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
	"github.com/freehold-dev/freehold/sidecar/internal/status"
)

// A Once is a once field, as its claim was read. It is immutable.
type Once struct {
	Owner, Field string
	// Path is the absolute path of the claim.
	Path string
	// Status is [OK], [Missing] if no process has claimed the field, [Invalid],
	// [Foreign], [Newer] or [Unreadable].
	Status Status
	// Err is an [*Error] with the status and the remedy; nil if Status is OK or
	// Missing. It wraps [Lost] or [Unsafe] if the directory of the claims is
	// that. The field then counts as claimed by an unknown process.
	Err error
	// ID is the nonce of the claim, At its time, and Writer the process that
	// won. Zero unless Status is OK.
	ID     string
	At     time.Time
	Writer Writer
}

// Once reads a once field of owner, without a lock.
func (d *Store) Once(m *schema.Manifest, owner, field string) *Once {
	s := d.OnceSource(m, owner, field)
	s.Look()
	return s.Once()
}

// A OnceSource reads one once field again and again, and decodes changed bytes
// only. It is safe for concurrent use.
type OnceSource struct {
	claim        *claims.Claim
	owner, field string

	mu       sync.Mutex
	manifest *schema.Manifest
	memory
	witness *statedir.Witness
	place   int                // of the slot in the lock file
	slot    bool               // whether there is one
	line    statedir.ClaimLine // as it was read last, before the claim
	scratch statedir.ClaimLine
	once    *Once // nil until it is wanted
}

// OnceSource returns a source of a once field of owner.
func (d *Store) OnceSource(m *schema.Manifest, owner, field string) *OnceSource {
	s := &OnceSource{claim: d.dir.Claim(m, owner, field), owner: owner, field: field, manifest: m, witness: statedir.WitnessOf(d.dir, m, owner)}
	s.place, s.slot = m.Slot(owner, field)
	return s
}

// Look reads the claim and reports whether it differs from the last time.
// Without a difference, it allocates nothing.
func (s *OnceSource) Look() (moved bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if moved = s.look(); s.once == nil && s.judge().Status == Regressed {
		moved = s.look() || moved // believed if found twice
	}
	return moved
}

// look reads the slot and then the claim.
func (s *OnceSource) look() (moved bool) {
	if s.slot {
		if s.witness.ReadClaim(s.place, &s.scratch); s.scratch != s.line {
			s.line, s.once, moved = s.scratch, nil, true
		}
	}
	if s.known {
		var same bool
		if same, s.spare = s.claim.Same(s.text, s.spare); same {
			return moved
		}
	} else if errors.Is(s.err, fs.ErrNotExist) && s.claim.Absent() {
		return moved
	}
	if s.update(s.claim.Read(s.spare)) {
		s.once, moved = nil, true
	}
	return moved
}

// Text returns the bytes of the claim, which are valid until the next Look.
func (s *OnceSource) Text() []byte { return s.text }

// Once returns the field as the claim was read last.
func (s *OnceSource) Once() *Once {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.once == nil {
		s.once = s.judge()
	}
	return s.once
}

func (s *OnceSource) judge() *Once {
	if _, made := s.manifest.Claims[s.owner]; !made { // the state has no claims of the owner yet
		return NewOnce(s.manifest, s.owner, s.field, s.claim.Path(), nil, fs.ErrNotExist)
	}
	return NewOnce(s.manifest, s.owner, s.field, s.claim.Path(), s.text, s.err).Against(s.line.Nonce())
}

// NewOnce returns the once field with a claim, in the file path, that was read
// as text or with the error err.
func NewOnce(m *schema.Manifest, owner, field, path string, text []byte, err error) *Once {
	o := &Once{Owner: owner, Field: field, Path: path}
	remove := statedir.MoveAway(path, "look at it: without the file, the field can be claimed anew")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		o.Status = Missing
		return o
	case errors.Is(err, Lost), errors.Is(err, Unsafe):
		return o.unusable(Unreadable, RemedyOf(err), err)
	case errors.Is(err, ErrTooLarge):
		return o.unusable(Invalid, remove, err)
	case err != nil:
		return o.unusable(Unreadable, statedir.AccessRemedy(err, remove), err)
	}
	claim, err := document.DecodeClaim(text)
	if err == nil {
		err = claim.Belongs(owner, field, m.StateID)
	}
	switch s := decodeStatus(err); {
	case err == nil:
	case s == Newer:
		return o.unusable(s, byHand(statedir.UseNewer), err)
	default:
		return o.unusable(s, remove, err)
	}
	o.Status, o.ID, o.At, o.Writer = OK, claim.Nonce, claim.At, claim.Writer
	return o
}

// Against returns the once field, with the status [Regressed] if the claim with
// the nonce told is gone, or another one stands in its place. An empty told says
// nothing.
func (o *Once) Against(told string) *Once {
	if told == "" || o.Status != Missing && (o.Status != OK || o.ID == told) {
		return o
	}
	err, note := fmt.Errorf("the lock file tells of claim %s, which is gone", told), "bring the file back"
	if o.Status == OK {
		err, note = fmt.Errorf("it is claim %s, and the lock file tells of claim %s: another file was put in its place", o.ID, told), "bring the right file back"
	}
	now := &Once{Owner: o.Owner, Field: o.Field, Path: o.Path}
	return now.unusable(Regressed, By(status.Accept, o.Owner).Or(note), err)
}

func (o *Once) unusable(s Status, r Remedy, err error) *Once {
	o.Status = s
	o.Err = &Error{Status: s, Path: o.Path, Owner: o.Owner, Field: o.Field, Remedy: r, Err: fmt.Errorf("%w: it counts as claimed, by an unknown process", err)}
	return o
}
