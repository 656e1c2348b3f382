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
	key []byte   // with its quotes
	raw []byte   // the object as it stands in the file
	set *written // what replaces raw, once the field was written
}

type written struct {
	Provenance
	extra []member // the members that raw had, if it had unknown ones
}

// write makes by the one who wrote the field. What a newer release put beside
// that survives.
func (e *entry) write(by Provenance) {
	set := &written{Provenance: by}
	if e.set != nil {
		set.extra = e.set.extra
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
	if parts, usual := cutEntry(e.raw); usual {
		return parts.provenance()
	}
	var by Provenance
	scan(e.raw, 0, func(s *scanner) { by = s.provenance(e.key) }).release()
	return by
}

// entries reads $sidecar.fields.
func (s *scanner) entries(d *Document) {
	s.object(`"fields"`, func(key, _ []byte) {
		if d.fields == nil {
			d.fields = make([]entry, 0, 16)
		}
		raw := s.value()
		if _, usual := cutEntry(raw); !usual {
			s.examine(key, raw)
		}
		d.fields = append(d.fields, entry{key: key, raw: raw})
	})
}

// examine refuses an entry that is none.
func (s *scanner) examine(key, raw []byte) {
	if s.err != nil {
		return
	}
	closer := scan(raw, s.base+s.at, func(s *scanner) { s.provenance(key) })
	defer closer.release()
	if s.err = closer.err; s.wrong == nil {
		s.wrong = closer.wrong
	}
}

// provenance reads any entry; key is the field's.
func (s *scanner) provenance(key []byte) (by Provenance) {
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
		default:
			known--
			s.value()
		}
	})
	if known < len(entryNames) {
		s.complete(raw, what, split(raw), entryNames)
	}
	return by
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
	return parts, c.ok && c.pos == len(raw)
}
