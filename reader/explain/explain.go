// Package explain is blame and difference as data: the origin of a field's
// value, the reason of its freshness, and the changes between two views. It
// makes no sentences; a command does.
package explain

import (
	"errors"
	"time"

	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/go-json-experiment/json/jsontext"
)

// An Explanation is all that a view knows about one field.
type Explanation struct {
	Field string         `json:"field"`
	Value jsontext.Value `json:"value,omitzero"` // nil if it is unset or cannot be read
	Set   bool           `json:"set"`
	Origin
	Type  schema.Type `json:"type,omitzero"` // empty for a map
	Kind  schema.Kind `json:"kind"`
	Unit  string      `json:"unit,omitzero"`
	Doc   string      `json:"doc,omitzero"`
	Parts []Part      `json:"parts,omitempty"` // of a map
	Error string      `json:"error,omitzero"`  // the text of Err

	DependsOn    []string         `json:"depends_on,omitempty"`
	Freshness    *Freshness       `json:"freshness,omitempty"` // of a dependent field
	Dependencies []*Freshness     `json:"dependencies,omitempty"`
	Chain        []Link           `json:"chain,omitempty"`
	Observed     store.Seen       `json:"observed,omitzero"`
	Open         []Opening        `json:"open,omitempty"`    // of an event
	Unshown      []PendingProblem `json:"unshown,omitempty"` // patches that may give another value
	Earlier      *Earlier         `json:"earlier,omitempty"` // a quarantined value

	// Err says why the value cannot be read; nil also if it is unset.
	Err error `json:"-"`
	// Declared is the field's declaration, all owners of a map joined.
	Declared schema.Field `json:"-"`
	// Obstacle is the owner because of which the value cannot be read.
	Obstacle string `json:"-"`
}

// An Opening is an open token of an event.
type Opening struct {
	Token   store.EventToken `json:"token"`
	Version store.Version    `json:"version"`
	BegunAt string           `json:"begun_at"`
	Program string           `json:"program"`
	PID     int              `json:"pid"`
}

// A Freshness is a [reader.Freshness] as data.
type Freshness struct {
	Verdict reader.Verdict `json:"verdict"`
	Reason  reader.Reason  `json:"reason"`
	Field   string         `json:"field,omitzero"` // the dependency that decided
	Says    string         `json:"says"`
}

// A Link is a dependency that depends on other fields in turn.
type Link struct {
	Field        string       `json:"field"`
	DependsOn    []string     `json:"depends_on"`
	Freshness    *Freshness   `json:"freshness"`
	Dependencies []*Freshness `json:"dependencies"`
}

// A PendingProblem is an owner with pending patches that a view cannot show.
type PendingProblem struct {
	Owner   string `json:"owner"`
	Patches int    `json:"patches"`
	Error   string `json:"error"` // the text of Err

	Err error `json:"-"`
}

// An Origin is the source of a value, or of one owner's part of a map.
type Origin struct {
	Owner     string        `json:"owner"`
	File      string        `json:"file"`
	Status    store.Status  `json:"status"`
	Version   store.Version `json:"version,omitzero"`
	Claim     string        `json:"claim,omitzero"`      // of a once field, in the place of a version
	ChangedAt string        `json:"changed_at,omitzero"` // RFC 3339 with nanoseconds
	Program   string        `json:"program,omitzero"`
	PID       int           `json:"pid,omitzero"`

	At      time.Time `json:"-"` // ChangedAt
	Home    string    `json:"-"` // of the owner
	Written bool      `json:"-"` // the field was written or cleared
}

// A Part is one owner's part of a map.
type Part struct {
	Origin
	Keys    bool     `json:"keys"` // the owner decides the keys
	Members []string `json:"members,omitempty"`
	Earlier *Earlier `json:"earlier,omitempty"`

	Declared schema.Field `json:"-"`
}

// exactly returns t as sidecars write it.
func exactly(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// OriginOf returns the origin of owner's part of a field.
func OriginOf(view *reader.View, field, owner string) Origin {
	status, _ := view.Owner(owner)
	o := Origin{Owner: owner, File: status.File, Status: status.Status, Home: view.Declaration().Owners[owner].Home}
	if by, ok := view.Field(field).ProvenanceOf(owner); ok {
		o.Written = true
		o.Version, o.Claim, o.Program, o.PID = by.Version, by.Claim, by.Program, by.PID
		o.At, o.ChangedAt = by.ChangedAt, exactly(by.ChangedAt)
	}
	if view.Declaration().Owners[owner].Fields[field].EffectiveKind() == schema.Once {
		by, _ := view.Field(field).Provenance()
		o.File, o.Status = by.File, by.Status
	}
	return o
}

// Field explains a declared field of a view. An error in reading the value is
// part of the explanation.
func Field(view *reader.View, field string) *Explanation {
	owner, _ := view.Declaration().OwnerOf(field)
	f, _ := view.Declaration().Joined(field)
	e := &Explanation{
		Field: field, Origin: OriginOf(view, field, owner),
		Type: f.Type, Kind: f.EffectiveKind(), Unit: f.Unit, Doc: f.Doc,
		Parts: parts(view, field), Unshown: Unshown(view, field), Declared: f,
	}
	for _, o := range view.Field(field).Open() {
		e.Open = append(e.Open, Opening{o.Token, o.Version, exactly(o.BegunAt), o.Program, o.PID})
	}
	if f.Dependent() {
		by, _ := view.Field(field).Provenance()
		e.DependsOn, e.Observed = f.DependsOn, by.Observed
		e.Freshness = freshness(view.Field(field).Freshness())
		e.Dependencies, e.Chain = dependencies(view, field), chain(view, field)
	}
	if !e.Written && e.Kind != schema.Once && e.Kind != schema.Map {
		e.Earlier = earlier(view, owner, field)
	}
	raw, err := view.Field(field).Raw()
	switch e.Set = err == nil; {
	case e.Set:
		e.Value = raw
	case !errors.Is(err, reader.ErrUnset):
		e.Err, e.Error = err, err.Error()
		e.Obstacle, e.Status = view.Field(field).Obstacle()
	}
	return e
}

// parts returns the parts of a map, that of the owner of the keys first; nil for
// other fields.
func parts(view *reader.View, field string) []Part {
	d := view.Declaration()
	if f, _ := d.Joined(field); f.EffectiveKind() != schema.Map {
		return nil
	}
	var all []Part
	for i, owner := range view.Field(field).Owners() {
		f := d.Owners[owner].Fields[field]
		p := Part{Origin: OriginOf(view, field, owner), Keys: i == 0, Members: f.MemberNames(), Declared: f}
		if !p.Written {
			p.Earlier = earlier(view, owner, field)
		}
		all = append(all, p)
	}
	return all
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

func freshness(f reader.Freshness) *Freshness {
	return &Freshness{f.Verdict, f.Reason, f.Field, f.String()}
}

// dependencies returns the freshness of a field by each single dependency.
func dependencies(view *reader.View, field string) (all []*Freshness) {
	for _, f := range view.Field(field).Dependencies() {
		all = append(all, freshness(f))
	}
	return all
}

// chain returns the dependencies of a field, direct or not, that depend on other
// fields. Declarations have no cycles; a field that two ways lead to is listed
// once.
func chain(view *reader.View, field string) (links []Link) {
	listed := map[string]bool{}
	var below func(field string)
	below = func(field string) {
		f, _ := view.Declaration().Joined(field)
		for _, name := range f.DependsOn {
			on, _ := view.Declaration().Joined(name)
			if !on.Dependent() || listed[name] {
				continue
			}
			listed[name] = true
			links = append(links, Link{name, on.DependsOn, freshness(view.Field(name).Freshness()), dependencies(view, name)})
			below(name)
		}
	}
	below(field)
	return links
}
