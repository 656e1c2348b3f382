package document

import (
	"bytes"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/freehold-dev/freehold/schema"
)

// An Observation says what somebody had seen of other owners' fields: the
// version of each, by name. The zero Version stands for a field that nobody had
// written.
type Observation map[string]Version

// Observed returns what the one who wrote the field name had observed before
// the data was produced; nil if that is not known.
func (d *Document) Observed(name string) Observation {
	i := d.entry(name)
	if i < 0 {
		return nil
	}
	return parseObservation(d.fields[i].now().observed)
}

// A Sighting is a version of a field that has been seen: the sidecar of the owner
// whose field it is was never older since.
type Sighting struct {
	// Owner whose program had seen the field Of before it wrote its own field
	// By. Without an owner it is an upgrade of the state that has written the
	// version.
	Owner, By, Of string
	Version       Version
}

// String says who has seen what, in a part of a sentence.
func (s Sighting) String() string {
	if s.Owner == "" {
		return fmt.Sprintf("an upgrade of the state has written version %v", s.Version)
	}
	return fmt.Sprintf("owner %s had observed version %v of its field %s before it wrote %s", s.Owner, s.Version, s.Of, s.By)
}

// Sightings returns what the writers of d's fields had observed, in file order: of
// several that show the same, everybody names the same one.
func (d *Document) Sightings() iter.Seq[Sighting] {
	return func(yield func(Sighting) bool) {
		for i := range d.fields {
			e, more := &d.fields[i], true
			by := string(unquoteName(e.key))
			pairs(e.now().observed, func(of, version []byte) {
				more = more && yield(Sighting{d.Owner, by, string(unquoteName(of)), observedVersion(version)})
			})
			if !more {
				return
			}
		}
	}
}

// Observe notes what the one who wrote the field name last had observed; that
// it is not known, if o is empty. It does nothing for a field that nobody has
// written.
func (d *Document) Observe(name string, o Observation) {
	i := d.entry(name)
	switch {
	case i < 0 || len(o) == 0 && d.fields[i].now().observed == nil:
	case len(o) == 0:
		d.fields[i].rewrite().observed = nil
	default:
		d.fields[i].rewrite().observed = o.append(nil)
	}
}

func (o Observation) append(dst []byte) []byte {
	dst = append(dst, '{')
	for i, name := range slices.Sorted(maps.Keys(o)) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(append(dst, '"'), name...), `":"`...)
		if v := o[name]; !v.IsZero() {
			dst = v.append(dst)
		}
		dst = append(dst, '"')
	}
	return append(dst, '}')
}

// parseObservation reads an object that is known to be right, or nil.
func parseObservation(object []byte) Observation {
	if object == nil {
		return nil
	}
	o := Observation{}
	pairs(object, func(key, value []byte) {
		o[string(unquoteName(key))] = observedVersion(value)
	})
	return o
}

// observedVersion reads a version that is known to be right: zero for what was not
// written.
func observedVersion(value []byte) Version {
	parts, _ := snapshotVersion(bytes.Trim(value, `"`))
	return parts.version()
}

// observation reads what the one who wrote a field had observed.
func (s *scanner) observation() []byte {
	object := s.value()
	if s.err != nil {
		return nil
	}
	if object[0] != '{' {
		s.refuse(s.at, "observed must be an object, not %s", kind(object))
		return nil
	}
	pairs(object, func(key, value []byte) {
		if name := unquoteName(key); !schema.ValidName(string(name)) {
			s.refuse(s.at, "observed names the field %.80q, and a name fits %s", name, schema.NameRule)
		}
		if _, ok := snapshotVersion(bytes.Trim(value, `"`)); value[0] != '"' || !ok && len(value) > 2 {
			s.refuse(s.at, "the version observed of %.80q must be EPOCH.REVISION.NONCE in quotes, not %s", unquoteName(key), excerpt(value))
		}
	})
	return object
}

// observation reads what [Observation.append] writes, if it stands here.
func (c *cursor) observation() []byte {
	if !c.skipIf(`,"observed":`) {
		return nil
	}
	start := c.pos
	var last []byte
	for before := "{\""; c.ok; before = "\"" {
		c.skip(before)
		name := c.plain()
		c.skip(`:"`)
		version := c.plain()
		_, ok := snapshotVersion(version)
		c.ok = c.ok && schema.ValidName(string(name)) && bytes.Compare(last, name) < 0 && (ok || len(version) == 0)
		if last = name; !c.skipIf(",") {
			break
		}
	}
	c.skip("}")
	return c.since(start)
}
