package history

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/freehold-dev/freehold/schema"
)

// Declaration declares the state that histories are made of: one owner
// with commits that fail when busy, one that defers them, and one of claims.
func Declaration(d schema.Durability) *schema.Declaration {
	claims := map[string]schema.Field{}
	for field := range Claims {
		claims[claimName(field)] = schema.Field{Type: schema.TypeTime, Kind: schema.Once}
	}
	return &schema.Declaration{State: "history", Owners: map[string]schema.Owner{
		"cost": {Durability: d, Fields: map[string]schema.Field{"note": {Type: schema.TypeUint}}},
		"hook": {Durability: d, Fields: claims},
		"tool": {Durability: d, Busy: schema.Busy{Then: schema.Defer}, Fields: map[string]schema.Field{
			"count": {Type: schema.TypeUint, Kind: schema.Counter},
			"peak":  {Type: schema.TypeUint, Kind: schema.Max},
			"tags":  {Type: schema.TypeUint, Kind: schema.Set},
		}},
	}}
}

func claimName(field int) string { return fmt.Sprintf("claim_%d", field) }

// A Viewer takes views of a state.
type Viewer interface {
	View(context.Context) (Output, error)
	Close() error
}

// Decode reads a view that is printed as JSON. It is an error if
// the view does not have all of an owner.
func Decode(text []byte) (Output, error) {
	var v struct {
		Snapshot struct{ Consistency string }
		Fields   map[string]json.RawMessage
		Owners   map[string]struct {
			Status, Error string
			PendingError  string `json:"pending_error"`
			Revision      uint64
			Pending       int
		}
	}
	out := Output{End: Same, Parts: Everything}
	if err := json.Unmarshal(text, &v); err != nil {
		return out, err
	}
	out.Atomic = v.Snapshot.Consistency == "atomic"
	out.Pending = v.Owners["tool"].Pending
	out.Seen.Revision = v.Owners["cost"].Revision
	for name, o := range v.Owners {
		if o.Error+o.PendingError != "" {
			out.Trouble += fmt.Sprintf("owner %s is %s: %s%s; ", name, o.Status, o.Error, o.PendingError)
		}
	}
	return out, out.Seen.fill(v.Fields)
}

// fill sets the fields.
func (s *State) fill(fields map[string]json.RawMessage) error {
	var tags []uint64
	into := map[string]any{"note": &s.Note, "count": &s.Count, "peak": &s.Peak, "tags": &tags}
	for name, raw := range fields {
		if to, ok := into[name]; ok {
			if err := json.Unmarshal(raw, to); err != nil {
				return fmt.Errorf("field %s: %w", name, err)
			}
		}
	}
	s.Tags = mask(tags)
	for field := range s.Claims {
		raw, ok := fields[claimName(field)]
		if !ok {
			continue
		}
		var at time.Time
		if err := json.Unmarshal(raw, &at); err != nil {
			return fmt.Errorf("claim %d: %w", field, err)
		}
		s.Claims[field] = uint64(at.UnixNano())
	}
	return nil
}

func mask(elements []uint64) (bits uint64) {
	for _, e := range elements {
		bits |= 1 << e
	}
	return bits
}
