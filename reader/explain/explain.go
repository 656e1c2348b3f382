// Package explain is blame and difference as data: the origin of a field's
// value, the reason of its freshness, and the changes between two views. It
// makes no sentences; a command does.
package explain

import (
	"errors"
	"slices"

	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/go-json-experiment/json/jsontext"
)

// An Explanation is all that a view knows about one field.
type Explanation struct {
	Field   string           `json:"field"`
	Value   jsontext.Value   `json:"value,omitzero"` // nil if it is unset or cannot be read
	Set     bool             `json:"set"`
	Type    schema.Type      `json:"type,omitzero"` // empty for a map
	Kind    schema.Kind      `json:"kind"`
	Unit    string           `json:"unit,omitzero"`
	Doc     string           `json:"doc,omitzero"`
	Parts   []Part           `json:"parts"`             // by owner; one, except for a map
	Chain   []Link           `json:"chain,omitempty"`   // of a dependent field, that field first
	Open    []reader.Opening `json:"open,omitempty"`    // of an event
	Unshown []PendingProblem `json:"unshown,omitempty"` // patches that may give another value
	Error   string           `json:"error,omitzero"`    // the text of Err

	// Err says why the value cannot be read; nil also if it is unset.
	Err error `json:"-"`
	// Declared is the field's declaration, all owners of a map joined.
	Declared schema.Field `json:"-"`
	// Obstacle is the owner because of which the value cannot be read, and
	// ObstacleStatus the status of that owner's sidecar.
	Obstacle       string       `json:"-"`
	ObstacleStatus store.Status `json:"-"`
}

// A Part is one owner's part of a field.
type Part struct {
	reader.Provenance
	Keys    bool     `json:"keys,omitzero"` // of a map: the owner decides the keys
	Members []string `json:"members,omitempty"`
	Earlier *Earlier `json:"earlier,omitempty"` // a quarantined value, if the owner has written none since

	// LockLost says that neither the file nor the owner's lock file, which would
	// tell of a former one, is there.
	LockLost bool         `json:"lock_lost,omitzero"`
	Home     string       `json:"-"` // of the owner
	Declared schema.Field `json:"-"`
}

// Written reports whether the owner has written or cleared the part.
func (p *Part) Written() bool { return !p.ChangedAt.IsZero() }

// A Link is a field that depends on others.
type Link struct {
	Field        string             `json:"field"`
	DependsOn    []string           `json:"depends_on"`
	Freshness    reader.Freshness   `json:"freshness"`
	Dependencies []reader.Freshness `json:"dependencies"` // by each dependency alone
}

// A PendingProblem is an owner with pending patches that a view cannot show.
type PendingProblem struct {
	Owner   string `json:"owner"`
	Patches int    `json:"patches"`
	Error   string `json:"error"` // the text of Err

	Err error `json:"-"`
}

// An Earlier is a quarantined sidecar that has a field which its owner has not
// written since.
type Earlier struct {
	Path string `json:"path"`
	// Value of the field, if it fits the present declaration.
	Value jsontext.Value `json:"value,omitzero"`

	Unread bool `json:"-"` // the file cannot be read as a sidecar
}

// Field explains a declared field of a view. An error in reading the value is
// part of the explanation.
func Field(view *reader.View, field string) *Explanation {
	f, _ := view.Declaration().Joined(field)
	e := &Explanation{
		Field: field, Type: f.Type, Kind: f.EffectiveKind(), Unit: f.Unit, Doc: f.Doc,
		Parts: parts(view, field), Chain: chain(view, field), Open: view.Field(field).Open(),
		Unshown: Unshown(view, field), Declared: f,
	}
	raw, err := view.Field(field).Raw()
	switch e.Set = err == nil; {
	case e.Set:
		e.Value = raw
	case !errors.Is(err, reader.ErrUnset):
		e.Err, e.Error = err, err.Error()
		e.Obstacle, e.ObstacleStatus = view.Field(field).Obstacle()
	}
	return e
}

// parts returns the parts of a field, that of the owner of the keys first.
func parts(view *reader.View, field string) (all []Part) {
	for i, owner := range view.Field(field).Owners() {
		o := view.Declaration().Owners[owner]
		p := Part{Home: o.Home, Declared: o.Fields[field]}
		p.Provenance, _ = view.Field(field).ProvenanceOf(owner)
		kind := p.Declared.EffectiveKind()
		if kind == schema.Map {
			p.Keys, p.Members = i == 0, p.Declared.MemberNames()
		}
		p.LockLost = p.Status == store.Missing && lockLost(view, owner)
		if !p.Written() && kind != schema.Once {
			p.Earlier = earlier(view, owner, field)
		}
		all = append(all, p)
	}
	return all
}

// lockLost reports whether the lock file of owner is not the one of the state.
func lockLost(view *reader.View, owner string) bool {
	s, err := store.Open(view.Dir())
	if err != nil {
		return false
	}
	defer s.Close()
	m, err := s.Manifest()
	return err == nil && slices.ContainsFunc(s.Lost(m), func(l store.Entry) bool { return l.Role == "lock" && l.Owner == owner })
}

// chain returns a dependent field and its dependencies, direct or not, that
// depend on other fields. Declarations have no cycles; a field that two ways
// lead to is listed once.
func chain(view *reader.View, field string) (links []Link) {
	listed := map[string]bool{}
	var add func(field string)
	add = func(field string) {
		f, _ := view.Declaration().Joined(field)
		if !f.Dependent() || listed[field] {
			return
		}
		listed[field] = true
		links = append(links, Link{field, f.DependsOn, view.Field(field).Freshness(), view.Field(field).Dependencies()})
		for _, name := range f.DependsOn {
			add(name)
		}
	}
	add(field)
	return links
}

// Unshown returns the owners of the field that have pending patches which the
// view does not show, so that the field may have another value.
func Unshown(view *reader.View, field string) (all []PendingProblem) {
	for _, owner := range view.Declaration().OwnersOf(field) {
		if o, _ := view.Owner(owner); o.PendingErr != nil {
			all = append(all, PendingProblem{o.Name, o.Pending, o.PendingErr.Error(), o.PendingErr})
		}
	}
	return all
}

// earlier returns the newest quarantined sidecar of owner that has the field,
// else the newest that cannot be read, else nil. It is not part of the view:
// an error in reading the quarantine counts as an empty one.
func earlier(view *reader.View, owner, field string) *Earlier {
	d, err := store.Open(view.Dir())
	if err != nil {
		return nil
	}
	defer d.Close()
	f := view.Declaration().Owners[owner].Fields[field]
	var last *Earlier
	_ = d.Quarantined(owner, field, func(path string, value []byte, err error) {
		e := &Earlier{Path: path, Unread: err != nil}
		if value == nil && err == nil || e.Unread && last != nil && !last.Unread {
			return
		}
		if fit, err := f.Normalize(value); err == nil && f.EffectiveKind() != schema.Map { // a map may be large
			e.Value = fit
		}
		last = e
	})
	return last
}
