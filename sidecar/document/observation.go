package document

import (
	"bytes"
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

// Observations returns the fields whose writers said what they had observed.
func (d *Document) Observations() iter.Seq2[string, Observation] {
	return func(yield func(string, Observation) bool) {
		for i := range d.fields {
			e := &d.fields[i]
			if o := parseObservation(e.now().observed); o != nil && !yield(string(unquoteName(e.key)), o) {
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
		parts, _ := cutVersion(bytes.Trim(value, `"`)) // zero for what was not written
		o[string(unquoteName(key))] = parts.version()
	})
	return o
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
		if _, ok := cutVersion(bytes.Trim(value, `"`)); value[0] != '"' || !ok && len(value) > 2 {
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
		_, ok := cutVersion(version)
		c.ok = c.ok && schema.ValidName(string(name)) && bytes.Compare(last, name) < 0 && (ok || len(version) == 0)
		if last = name; !c.skipIf(",") {
			break
		}
	}
	c.skip("}")
	return c.since(start)
}
