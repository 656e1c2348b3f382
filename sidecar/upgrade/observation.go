package upgrade

import (
	"maps"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
)

// observed takes over the observations of the field name, which was o.
//
// A field on which it no longer depends must not stay among them. If that field
// were declared again, its new owner's sidecar would count as regressed, being
// older than the observation. So a sidecar is rewritten for this alone too.
func (b *draft) observed(name string, o schema.Origin) {
	was := b.stored[o.Owner].Observed(o.Field)
	var now document.Observation
	lost := maps.Clone(was)
	for _, of := range b.run.next.Owners[b.owner].Fields[name].DependsOn {
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
// former name. A moved field keeps its provenance, so its observation stays
// true. Without a provenance, as after a repair, the new owner does not know
// the observed version, and seen returns false.
func (b *draft) seen(was document.Observation, of string) (version document.Version, former string, ok bool) {
	owner, _ := b.run.next.OwnerOf(of)
	o, ok := b.old.Origin(b.run.next, owner, of)
	if !ok {
		return document.Version{}, "", false
	}
	version, ok = was[o.Field]
	if ok && o.Owner != owner && !version.IsZero() {
		_, _, ok = b.stored[o.Owner].Field(o.Field)
	}
	return version, o.Field, ok
}
