package reader

import (
	"fmt"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// A claim is one once field in a view. It is immutable, and shared by all views
// between two changes of the field.
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

// stored returns the value of the once field that where names, or the reason
// why there is none.
func (c *claim) stored(where string) ([]byte, error) {
	switch c.from.Status {
	case store.OK:
		return c.value, nil
	case store.Missing:
		return nil, fmt.Errorf("%s: %w: not claimed", where, ErrUnset)
	}
	return nil, fmt.Errorf("%s: %w", where, c.once.Err)
}
