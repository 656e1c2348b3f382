package document

import (
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/freehold-dev/freehold/schema"
)

// MaxClaim is the most bytes that the file of a claim may have.
const MaxClaim = 8 << 10

// A Claim is the content of a once field's file: who won it and when. The file
// is complete from the moment at which it exists, and never changes.
type Claim struct {
	// Owner and Field say what was claimed, State in which state.
	Owner, Field, State string
	// Nonce was drawn at random for this claim; it is the claim's id.
	Nonce string
	// At is when it was made, by the clock of the one who made it.
	At time.Time
	// Writer made it.
	Writer Writer
}

var claimNames = []string{"format", "owner", "field", "state", "nonce", "at", "writer", "sum"}

// Encode returns the text of c's file. It returns an error if [DecodeClaim]
// would refuse it.
func (c *Claim) Encode() ([]byte, error) {
	if err := c.sound(); err != nil {
		return nil, err
	}
	sum := 0
	doc := &Document{Writer: c.Writer}
	out := appendObject(make([]byte, 0, 512), nil, claimNames, func(out []byte, name string) []byte {
		if name == "sum" {
			sum = len(out) + 1
		}
		return c.append(out, doc, name)
	})
	out = append(out, '\n')
	if len(out) > MaxClaim {
		return nil, fmt.Errorf("the claim would have %d bytes, more than the %d allowed", len(out), MaxClaim)
	}
	seal(out, sum)
	return out, nil
}

// append appends what the claim has under a name that stands in a sidecar's
// envelope too as that does.
func (c *Claim) append(dst []byte, doc *Document, name string) []byte {
	switch name {
	case "owner":
		return appendString(dst, c.Owner)
	case "field":
		return appendString(dst, c.Field)
	case "state":
		return appendString(dst, c.State)
	case "nonce":
		return appendString(dst, c.Nonce)
	case "at":
		return appendTime(dst, c.At)
	default:
		return doc.appendEnvelope(dst, name)
	}
}

// sound says why c cannot be written.
func (c *Claim) sound() error {
	switch {
	case !schema.ValidName(c.Owner) || !schema.ValidName(c.Field):
		return fmt.Errorf("%.80q and %.80q are no names of an owner and a field", c.Owner, c.Field)
	case c.State == "":
		return fmt.Errorf("the claim of %s has no state id", c.Field)
	}
	id := c.Writer.Identity
	if !utf8.ValidString(c.State) || !utf8.ValidString(id.Boot) || !utf8.ValidString(id.Nonce) {
		return fmt.Errorf("the claim of %s has invalid UTF-8: state %q, boot %q, nonce %q", c.Field, c.State, id.Boot, id.Nonce)
	}
	return (Provenance{Version{1, 1, c.Nonce}, c.At, c.Writer.Program, id.PID}).sound()
}

// DecodeClaim reads the file of a claim. It returns an error that wraps
// [ErrInvalid] if data is none, and [ErrForeign] if it is one that Freehold did
// not write. Members that a newer release added are ignored: nobody writes the
// file again.
func DecodeClaim(data []byte) (*Claim, error) {
	if err := notText(data); err != nil {
		return nil, err
	}
	c, sum := new(Claim), 0
	text := slices.Clone(data)
	s := scan(text, 0, func(s *scanner) { sum = s.claim(c) })
	defer s.release()
	if err := s.failure(); err != nil {
		return nil, err
	}
	if !sealed(text, sum) {
		return nil, ErrForeign
	}
	return c, nil
}

// claim reads a file into c and returns the offset of the sum's digits.
func (s *scanner) claim(c *Claim) (sum int) {
	doc := new(Document)
	var have []member
	object := s.object("the claim", func(key, name []byte) {
		m := member{key: key}
		switch string(name) {
		case "format":
			s.formatNumber()
		case "owner":
			c.Owner = s.string(name)
		case "field":
			c.Field = s.string(name)
		case "state":
			c.State = s.string(name)
		case "nonce":
			c.Nonce = s.nonce(name)
		case "at":
			c.At = s.instant(name)
		case "writer":
			s.writer(doc)
		case "sum":
			sum = s.sum(name)
		default:
			m.value = s.value()
		}
		have = append(have, m)
	}, claimNames...)
	s.complete(object, "the claim", have, claimNames)
	c.Writer = doc.Writer
	return sum
}

// Belongs returns an error that wraps [ErrForeign] unless c is the claim of
// that field in that state: a file that was copied here claims nothing, and
// still nobody else can.
func (c *Claim) Belongs(owner, field, state string) error {
	if c.Owner == owner && c.Field == field && c.State == state {
		return nil
	}
	return fmt.Errorf("%w: it is the claim of field %s of owner %s in state %s", ErrForeign, c.Field, c.Owner, c.State)
}
