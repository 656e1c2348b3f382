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
	key   []byte // with its quotes
	raw   []byte // the object as it stands in the file
	parts        // of raw
	set   *written
}

// parts are what an entry has beside the provenance, each an object, or nil.
type parts struct {
	keys     []byte // of a map, the incarnations
	observed []byte // of a dependent field, the versions that its writer had seen
	open     []byte // of an event, what has begun and is not done
}

// written is what replaces an entry's text, once the field was written.
type written struct {
	Provenance
	parts
	extra []member // the members that raw had, if it had unknown ones
}

// write makes by the one who wrote the field, having observed nothing. What a
// newer release put beside that survives.
func (e *entry) write(by Provenance) {
	set := &written{Provenance: by, parts: e.parts}
	set.observed = nil
	if e.set != nil {
		set.keys, set.open, set.extra = e.set.keys, e.set.open, e.set.extra
	} else if _, usual := snapshotEntry(e.raw); !usual {
		set.extra = split(e.raw)
		for i := range set.extra {
			if m := &set.extra[i]; slices.ContainsFunc(entryNames, m.is) {
				m.value = nil
			}
		}
	}
	e.set = set
}

// rewrite returns what replaces the entry's text, to be changed, with all that
// it has. Clones of the document keep what they have.
func (e *entry) rewrite() *written {
	if e.set == nil {
		by, observed := Provenance{}, e.observed
		if e.raw != nil {
			by = e.provenance()
		}
		e.write(by)
		e.set.observed = observed
	}
	set := *e.set
	e.set = &set
	return &set
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

// now returns the entry's parts as they stand.
func (e *entry) now() parts {
	if e.set != nil {
		return e.set.parts
	}
	return e.parts
}

// entries reads $sidecar.fields.
func (s *scanner) entries(d *Document) {
	s.object(`"fields"`, func(key, _ []byte) {
		if d.fields == nil {
			d.fields = make([]entry, 0, 16)
		}
		e := entry{key: key, raw: s.value()}
		if parts, usual := snapshotEntry(e.raw); usual {
			e.observed = parts.observed
		} else {
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
	closer := scan(e.raw, s.base+s.at, func(s *scanner) { _, e.parts = s.provenance(e.key) })
	defer closer.release()
	if s.err = closer.err; s.wrong == nil {
		s.wrong = closer.wrong
	}
}

// provenance reads any entry; key is the field's.
func (s *scanner) provenance(key []byte) (by Provenance, has parts) {
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
			has.keys = s.incarnations()
		case "observed":
			known--
			has.observed = s.observation()
		case "open":
			known--
			has.open = s.openings()
		default:
			known--
			s.value()
		}
	}, entryNames...)
	// An event that has never been done has no version yet.
	if known < len(required) && (known > 0 || has.open == nil) {
		s.complete(raw, what, split(raw), required)
	}
	return by, has
}

// entryParts is a Provenance whose strings have not been made yet.
type entryParts struct {
	version  versionParts
	at       time.Time
	program  []byte
	pid      int
	observed []byte // an object, or nil
}

func (p entryParts) provenance() Provenance {
	return Provenance{p.version.version(), p.at, string(p.program), p.pid}
}

// snapshotEntry takes apart the object raw if it is an entry exactly as this release
// writes it, as nearly all are. It is several times faster than
// [scanner.provenance].
func snapshotEntry(raw []byte) (parts entryParts, ok bool) {
	c := cursor{text: raw, ok: true}
	parts = c.entry()
	parts.observed = c.observation()
	c.skip("}")
	return parts, c.ok && c.pos == len(raw)
}
