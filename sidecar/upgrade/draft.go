package upgrade

import (
	"bytes"
	"fmt"
	"maps"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/go-json-experiment/json/jsontext"
)

// document returns the new sidecar of an owner, or nil if it does not change.
// It reads only stored sidecars, so fields may change places.
func (p *plan) document(owner string) *document.Document {
	before := p.stored[owner].Clone()
	version := document.Version{Epoch: p.epoch, Revision: 1, Nonce: process.NewNonce()}
	writer := document.Writer{Program: p.options.Program, Identity: process.Self()}
	before.Commit(version, p.at, writer)
	b := draft{plan: p, owner: owner, doc: before.Clone()}
	b.by = document.Provenance{Version: version, At: p.at, Program: writer.Program, PID: writer.Identity.PID}
	for _, field := range p.old.Owners[owner].FieldNames() {
		if _, ok := p.next.Owners[owner].Fields[field]; !ok {
			b.doc.Drop(field)
		}
	}
	for _, field := range p.next.Owners[owner].FieldNames() {
		b.field(field)
	}
	if !differs(before, b.doc) {
		return nil
	}
	return b.doc
}

// A draft is one owner's new sidecar in the making.
type draft struct {
	*plan
	owner string
	doc   *document.Document
	by    document.Provenance // of this upgrade, for values without a provenance
}

// field takes over a field of the new declaration from its origin.
func (b *draft) field(name string) {
	o, ok := b.origin(b.owner, name)
	if !ok {
		return
	}
	b.taken[place{o.Owner, o.Field, ""}] = true
	spec, former := b.next.Owners[b.owner].Fields[name], b.old.Owners[o.Owner].Fields[o.Field]
	if spec.Shareable() && former.Shareable() {
		b.table(name, o.Field)
		return
	}
	if o != (schema.Origin{Owner: b.owner, Field: name}) {
		b.take(name, o)
	}
	b.abandon(name, o, former, spec)
	b.convert(name, o, former, spec)
	b.observed(name, o)
}

// abandon ends open events of a field that is no longer an event: nothing could
// complete them any more. That counts as a change.
func (b *draft) abandon(name string, o schema.Origin, former, spec schema.Field) {
	open := b.doc.Open(name)
	if former.EffectiveKind() != schema.Event || spec.EffectiveKind() == schema.Event || len(open) == 0 {
		return
	}
	for _, begun := range open {
		b.doc.End(name, begun.Token)
	}
	if raw := b.doc.Value(name); raw != nil {
		b.doc.Set(name, raw, b.by)
	} else {
		b.doc.Clear(name, b.by)
	}
	b.lose(Gone{Owner: o.Owner, Field: o.Field, Open: len(open), Declared: former})
}

// convert converts the value of the field that was o.
func (b *draft) convert(name string, o schema.Origin, former, spec schema.Field) {
	raw, by, written := b.doc.Field(name)
	if raw == nil {
		return
	}
	converted, left, misfits := former.Convert(spec, raw)
	b.misfit(o, "", misfits)
	b.loseParts(o, "", left)
	if len(misfits) > 0 || bytes.Equal(raw, converted) && (spec.EffectiveKind() == schema.Map) == (former.EffectiveKind() == schema.Map) {
		return
	}
	if !written || by == (document.Provenance{}) {
		by = b.by
	}
	b.set(name, spec, converted, by)
}

func (b *draft) take(name string, o schema.Origin) {
	b.doc.Take(name, b.stored[o.Owner], o.Field)
	if o.Owner != b.owner {
		b.gained[b.owner] = true
	}
}

// set stores a converted value. A new map gets incarnations; a former map loses
// them.
func (b *draft) set(name string, spec schema.Field, raw []byte, by document.Provenance) {
	var rows []document.Row
	if spec.EffectiveKind() == schema.Map {
		if b.doc.SetRows(name, nil, by); bytes.Equal(raw, []byte("{}")) {
			return
		}
		b.doc.Set(name, raw, by)
		rows, _ = b.doc.Rows(name) // a converted map is an object
		for i := range rows {
			rows[i].Born = b.by.Version
		}
	}
	b.doc.SetRows(name, rows, by)
	if spec.EffectiveKind() != schema.Map {
		b.doc.Set(name, raw, by)
	}
}

// misfit notes values of the former field o that do not convert, at the place
// below in the field.
func (b *draft) misfit(o schema.Origin, below jsontext.Pointer, misfits []schema.Misfit) {
	for _, m := range misfits {
		pointer := jsontext.Pointer("").AppendToken(o.Field) + below + m.Pointer
		b.misfits = append(b.misfits, fmt.Errorf("%s: %s is %.80s: %s", b.sidecarPath(o.Owner), pointer, m.Value, m.Why))
	}
}

// observed takes over the observations of the field name, which was o, of fields
// on which it still depends. If another were declared again, its new owner's
// sidecar would count as regressed, being older than the observation.
func (b *draft) observed(name string, o schema.Origin) {
	was := b.stored[o.Owner].Observed(o.Field)
	var now document.Observation
	lost := maps.Clone(was)
	for _, of := range b.next.Owners[b.owner].Fields[name].DependsOn {
		if version, former, ok := b.seen(was, of); ok {
			if now == nil {
				now = document.Observation{}
			}
			now[of] = version
			delete(lost, former)
		}
	}
	for of := range lost {
		b.lose(Gone{Owner: o.Owner, Field: o.Field, Observed: of})
	}
	if !maps.Equal(now, b.doc.Observed(name)) {
		b.doc.Observe(name, now)
	}
}

// seen returns the observed version of the field that is called of now, and its
// former name; or false if the field moved without a provenance, as after a
// repair: its new owner does not know the observed version.
func (b *draft) seen(was document.Observation, of string) (version document.Version, former string, ok bool) {
	owner, _ := b.next.OwnerOf(of)
	o, ok := b.origin(owner, of)
	if !ok {
		return document.Version{}, "", false
	}
	version, ok = was[o.Field]
	if ok && o.Owner != owner && !version.IsZero() {
		_, _, ok = b.stored[o.Owner].Field(o.Field)
	}
	return version, o.Field, ok
}
