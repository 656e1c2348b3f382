package upgrade

import (
	"maps"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/document"
)

// observed brings over what the writer of a field, which was o, had observed.
// A field that it depends on no more, because it is gone or because the
// declaration says so, must not be among that: if it were declared again, its
// new owner's sidecar would count as put back or removed, being older than what
// somebody has seen. So a sidecar is written anew for this alone too; that costs
// one more small file, in what takes every lock anyhow.
func (b *builder) observed(name string, o schema.Origin) {
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

// seen returns what was says of the field that is called of now, and what that
// was called. A field that
// moves takes along who wrote it, so that what was seen of it stays true; if
// nobody did, since a repair has begun its sidecar anew, the new owner knows
// nothing of the version that was seen.
func (b *builder) seen(was document.Observation, of string) (version document.Version, former string, ok bool) {
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
