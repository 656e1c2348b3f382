package document

import (
	"bytes"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/status"
)

// MaxClaim is the most bytes that the file of a claim may have.
const MaxClaim = 8 << 10

// A Claim is the content of a once field's file: its winner and the time. The
// file is complete from the moment of its creation, and never changes.
type Claim struct {
	// Owner and Field that were claimed, and the id of their state.
	Owner, Field, State string
	// Nonce was drawn at random for this claim and is its id.
	Nonce string
	// At is the time of the claim by the winner's clock.
	At time.Time
	// Writer is the winner.
	Writer Writer
}

var claimShape = &shape{names: []string{"format", "owner", "field", "state", "nonce", "at", "writer", "sum"}}

// Encode returns the text of c's file. It returns an error if [DecodeClaim]
// would refuse the text.
func (c *Claim) Encode() ([]byte, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	sum := 0
	out := appendObject(make([]byte, 0, 512), nil, claimShape, func(out []byte, name string) []byte {
		if name == "sum" {
			sum = len(out) + 1
		}
		return c.append(out, name)
	})
	out = append(out, '\n')
	if len(out) > MaxClaim {
		return nil, fmt.Errorf("the claim would have %d bytes, more than the %d allowed", len(out), MaxClaim)
	}
	seal(out, sum)
	return out, nil
}

// append appends a member. Those that an envelope also has look the same.
func (c *Claim) append(dst []byte, name string) []byte {
	switch name {
	case "field":
		return appendString(dst, c.Field)
	case "at":
		return appendTime(dst, c.At)
	}
	d := Document{Owner: c.Owner, State: c.State, Version: Version{Nonce: c.Nonce}, Writer: c.Writer}
	return d.appendEnvelope(dst, name)
}

func (c *Claim) validate() error {
	switch {
	case !schema.ValidName(c.Owner) || !schema.ValidName(c.Field):
		return fmt.Errorf("owner %.80q, field %.80q: not a name: want %s", c.Owner, c.Field, schema.NameRule)
	case c.State == "" || !utf8.ValidString(c.State):
		return fmt.Errorf("the claim of %s: invalid state id %.80q", c.Field, c.State)
	}
	p := Provenance{Version{Epoch: 1, Revision: 1, Nonce: c.Nonce}, c.At, c.Writer.Program, c.Writer.Identity.PID}
	if err := c.Writer.validate(); err != nil {
		return err
	}
	return p.validate()
}

// DecodeClaim reads the file of a claim. It returns an error that wraps
// [status.Invalid] if data is not a claim, [status.Newer] if a later format
// wrote data, and [status.Foreign] if another hand than Freehold's did. Members
// of a newer release are ignored, since the file is never written again.
func DecodeClaim(data []byte) (*Claim, error) {
	text := bytes.Clone(data)
	if err := checkFile(text); err != nil {
		return nil, err
	}
	s := &scanner{text: text}
	s.skipSpace()
	c, sum := s.claim()
	if err := s.failure(); err != nil {
		return nil, err
	}
	if !sealed(text, sum) {
		return nil, status.Foreign
	}
	return c, nil
}

// claim reads a file and returns the offset of the sum's digits.
func (s *scanner) claim() (c *Claim, sum int) {
	c = new(Claim)
	var d Document
	s.object("the claim", claimShape, func(name string) {
		switch name {
		case "format":
			s.formatNumber()
		case "field":
			c.Field = s.string(name)
		case "at":
			c.At = s.instant(name)
		case "writer":
			s.writer(&d)
		case "sum":
			sum = s.sum(name)
		default:
			s.commit(&d, name)
		}
	})
	c.Owner, c.State, c.Nonce, c.Writer = d.Owner, d.State, d.Version.Nonce, d.Writer
	return c, sum
}

// Belongs returns an error that wraps [status.Foreign] unless c is the claim
// of that field in that state. A file that was copied here claims nothing, and
// still keeps everybody else from claiming.
func (c *Claim) Belongs(owner, field, state string) error {
	if c.Owner == owner && c.Field == field && c.State == state {
		return nil
	}
	return fmt.Errorf("%w: it is the claim of field %s of owner %s in state %s", status.Foreign, c.Field, c.Owner, c.State)
}
