package document

import (
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/freehold-dev/freehold/schema"
)

// An Observation is the versions of other owners' fields that a writer had
// observed, by field. The zero Version stands for a field that was unset.
type Observation map[string]Version

// Observed returns the observation of the field name's last write; nil if
// there is none.
func (d *Document) Observed(name string) Observation {
	i := d.entry(name)
	if i < 0 {
		return nil
	}
	object := d.fields[i].now().observed
	if object == nil {
		return nil
	}
	o := Observation{}
	pairs(object, func(of, version []byte) { o[string(unquoteName(of))] = observedVersion(version) })
	return o
}

// observedVersion parses a valid version: zero for "".
func observedVersion(value []byte) Version {
	v, _ := cutVersion(quoted(value))
	return v.version()
}

// A Sighting is a version of a field that another owner has observed: the
// sidecar of the field's owner was never older since.
type Sighting struct {
	// Owner with a program that observed the field Of before writing the field
	// By. If Owner is empty, an upgrade of the state has written the version.
	Owner, By, Of string
	Version       Version
	// Witness says that the owner's lock file tells the version.
	Witness bool
}

// String describes the sighting in a part of a sentence.
func (s Sighting) String() string {
	switch {
	case s.Witness:
		return fmt.Sprintf("the lock file tells of version %v", s.Version)
	case s.Owner == "":
		return fmt.Sprintf("an upgrade of the state has written version %v", s.Version)
	}
	return fmt.Sprintf("owner %s had observed version %v of its field %s before it wrote %s", s.Owner, s.Version, s.Of, s.By)
}

// Sightings returns the observations of d's fields, in file order, so that all
// readers name the same one of several.
func (d *Document) Sightings() iter.Seq[Sighting] {
	return func(yield func(Sighting) bool) {
		for i := range d.fields {
			e, more := &d.fields[i], true
			by := string(unquoteName(e.key))
			pairs(e.now().observed, func(of, version []byte) {
				more = more && yield(Sighting{Owner: d.Owner, By: by, Of: string(unquoteName(of)), Version: observedVersion(version)})
			})
			if !more {
				return
			}
		}
	}
}

// Observe sets the observation of the field name's last write; an empty o
// removes it. Observe does nothing for a field that was never written.
func (d *Document) Observe(name string, o Observation) {
	i := d.entry(name)
	switch {
	case i < 0 || len(o) == 0 && d.fields[i].now().observed == nil:
	case len(o) == 0:
		d.fields[i].rewrite().observed = nil
	default:
		d.fields[i].rewrite().observed = o.object()
	}
}

func (o Observation) object() []byte {
	dst := []byte{'{'}
	for _, name := range slices.Sorted(maps.Keys(o)) {
		dst = appendVersion(appendKey(dst, quote(name)), o[name])
	}
	return append(dst, '}')
}

// observation reads the observation of an entry.
func (s *scanner) observation() []byte {
	if !s.isObject("observed") {
		return nil
	}
	start := s.pos
	s.each(func(key []byte) {
		of := unquoteName(key)
		if !schema.ValidName(string(of)) {
			s.refuse(s.at, "observed has the field %.80q: want %s", of, schema.NameRule)
		}
		v := s.value()
		if _, ok := cutVersion(quoted(v)); !ok && string(v) != `""` {
			s.refuse(s.at, "the version observed of %.80q must be EPOCH.REVISION.NONCE in quotes, not %s", of, excerpt(v))
		}
	})
	return s.since(start)
}
