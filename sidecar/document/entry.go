package document

import (
	"fmt"
	"slices"
	"time"
)

// Provenance says who wrote a field, or cleared it.
type Provenance struct {
	// Version of the commit that did.
	Version Version
	// At is when that was, by the writer's clock.
	At time.Time
	// Program is the name that the writer went by.
	Program string
	// PID is the writer's process id.
	PID int
}

// An entry is a member of $sidecar.fields: who wrote a field. Readers ask for
// few of them, so that an entry stays text until somebody does.
type entry struct {
	key  []byte   // with its quotes
	raw  []byte   // the object as it stands in the file
	keys []byte   // of a map, the object of incarnations in raw
	set  *written // what replaces raw, once the field was written
}

type written struct {
	Provenance
	keys  []byte   // of a map, an object
	extra []member // the members that raw had, if it had unknown ones
}

// write makes by the one who wrote the field. What a newer release put beside
// that survives.
func (e *entry) write(by Provenance) {
	set := &written{Provenance: by, keys: e.keys}
	if e.set != nil {
		set.keys, set.extra = e.set.keys, e.set.extra
	} else if _, usual := cutEntry(e.raw); !usual {
		set.extra = split(e.raw)
		for i := range set.extra {
			if m := &set.extra[i]; slices.ContainsFunc(entryNames, m.is) {
				m.value = nil
			}
		}
	}
	e.set = set
}

func (e *entry) provenance() Provenance {
	if e.set != nil {
		return e.set.Provenance
	}
	// An object has no name twice, so what follows cannot change what stands
	// in the usual order.
	c := cursor{text: e.raw, ok: true}
	if parts := c.entry(); c.ok && (c.skipIf(",") || c.skipIf("}")) {
		return parts.provenance()
	}
	var by Provenance
	scan(e.raw, 0, func(s *scanner) { by, _ = s.provenance(e.key) }).release()
	return by
}

// incarnations returns the object that gives each key of a map its
// incarnation, or nil.
func (e *entry) incarnations() []byte {
	if e.set != nil {
		return e.set.keys
	}
	return e.keys
}

// entries reads $sidecar.fields.
func (s *scanner) entries(d *Document) {
	s.object(`"fields"`, func(key, _ []byte) {
		if d.fields == nil {
			d.fields = make([]entry, 0, 16)
		}
		e := entry{key: key, raw: s.value()}
		if _, usual := cutEntry(e.raw); !usual {
			s.examine(&e)
		}
		d.fields = append(d.fields, e)
	})
}

// examine refuses an entry that is none.
func (s *scanner) examine(e *entry) {
	if s.err != nil {
		return
	}
	closer := scan(e.raw, s.base+s.at, func(s *scanner) { _, e.keys = s.provenance(e.key) })
	defer closer.release()
	if s.err = closer.err; s.wrong == nil {
		s.wrong = closer.wrong
	}
}

// provenance reads any entry; key is the field's.
func (s *scanner) provenance(key []byte) (by Provenance, keys []byte) {
	what, known := fmt.Sprintf("the entry of %.80q", unquoteName(key)), 0
	raw := s.object(what, func(_, name []byte) {
		known++
		switch string(name) {
		case "version":
			by.Version = s.version(name)
		case "at":
			by.At = s.instant(name)
		case "program":
			by.Program = s.string(name)
		case "pid":
			by.PID = s.pid(name)
		case "keys":
			known--
			keys = s.incarnations()
		default:
			known--
			s.value()
		}
	})
	if known < len(required) {
		s.complete(raw, what, split(raw), required)
	}
	return by, keys
}

// entryParts is a Provenance whose strings have not been made yet.
type entryParts struct {
	version versionParts
	at      time.Time
	program []byte
	pid     int
}

func (p entryParts) provenance() Provenance {
	return Provenance{p.version.version(), p.at, string(p.program), p.pid}
}

// cutEntry takes apart the object raw if it is an entry exactly as this release
// writes it, as nearly all are. It is several times faster than
// [scanner.provenance].
func cutEntry(raw []byte) (parts entryParts, ok bool) {
	c := cursor{text: raw, ok: true}
	parts = c.entry()
	c.skip("}")
	return parts, c.ok && c.pos == len(raw)
}
