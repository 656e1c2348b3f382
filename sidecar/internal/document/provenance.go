package document

import (
	"bytes"
	"slices"
	"strconv"
	"time"

	"github.com/freehold-dev/freehold/schema"
)

// Provenance says which commit wrote or cleared a field.
type Provenance struct {
	// Version of the commit.
	Version Version
	// At is the time of the commit by the writer's clock.
	At time.Time
	// Program is the writer's name.
	Program string
	// PID is the writer's process id.
	PID int
}

// An entry is a member of $sidecar.fields: the provenance of a field. Readers
// ask for few of them, so an entry stays text until then.
type entry struct {
	key   []byte // with its quotes
	raw   []byte // the object in the file; nil if the field is new
	parts        // of raw
	set   *written
}

// parts are the members of an entry beside the provenance: objects, or nil.
type parts struct {
	keys     []byte // of a map, the incarnations
	observed []byte // of a dependent field, the versions that its writer had observed
	open     []byte // of an event, the openings
}

// written replaces an entry's text once the field was written.
type written struct {
	Provenance
	parts
	layout []member // of the entry's text
}

// origin is a [Provenance] before its strings are made.
type origin struct {
	version versionText
	at      time.Time
	program []byte
	pid     int
}

func (o *origin) provenance() Provenance {
	return Provenance{o.version.version(), o.at, string(o.program), o.pid}
}

var (
	provenanceShape = &shape{names: []string{"version", "at", "program", "pid"}}
	entryShape      = &shape{
		names:    slices.Concat(provenanceShape.names, []string{"keys", "observed", "open"}),
		optional: []string{"keys", "observed", "open"},
	}
)

// entries reads $sidecar.fields.
func (s *scanner) entries(d *Document) {
	if !s.isObject(`"fields"`) {
		return
	}
	d.fields = make([]entry, 0, 12)
	s.members(func(key []byte) {
		start := s.pos
		s.field = unquoteName(key)
		_, has, _ := s.entry()
		s.field = nil
		d.fields = append(d.fields, entry{key: key, raw: s.since(start), parts: has})
	})
}

// entry reads an entry.
func (s *scanner) entry() (o origin, has parts, layout []member) {
	if !s.isObject("the entry") {
		return o, has, nil
	}
	written := false
	layout, seen := s.shaped(entryShape, func(name string) {
		switch name {
		case "keys":
			has.keys = s.incarnations()
		case "observed":
			has.observed = s.observation()
		case "open":
			has.open = s.openings()
		default:
			written = true
			s.origin(&o, name)
		}
	})
	// An event that was never done has openings alone.
	if written || has.open == nil {
		s.complete("the entry", entryShape, seen)
	}
	return o, has, layout
}

func (s *scanner) origin(o *origin, name string) {
	switch name {
	case "version":
		o.version = s.version(name)
	case "at":
		o.at = s.instant(name)
	case "program":
		o.program = s.bytes(name)
	case "pid":
		o.pid = s.pid(name)
	}
}

// write sets the provenance of a field and drops the observation of the write
// before. Members of a newer release stay.
func (e *entry) write(by Provenance) {
	has := e.now()
	has.observed = nil
	e.set = &written{by, has, e.layout()}
}

// rewrite returns a replacement of the entry's text that equals the entry, for
// a change. Clones of the document keep theirs.
func (e *entry) rewrite() *written {
	e.set = &written{e.provenance(), e.now(), e.layout()}
	return e.set
}

func (e *entry) provenance() Provenance {
	if e.set != nil {
		return e.set.Provenance
	}
	o, _ := e.parse()
	return o.provenance()
}

func (e *entry) layout() []member {
	if e.set != nil {
		return e.set.layout
	}
	_, layout := e.parse()
	return layout
}

// parse reads the entry's text, if there is one.
func (e *entry) parse() (o origin, layout []member) {
	if e.raw == nil {
		return o, nil
	}
	s := scanner{text: e.raw}
	o, _, layout = s.entry()
	return o, layout
}

// named returns the entry as that of another field.
func (e entry) named(name string) entry {
	e.key = quote(name)
	return e
}

// now returns the entry's parts as they stand.
func (e *entry) now() parts {
	if e.set != nil {
		return e.set.parts
	}
	return e.parts
}

func (d *Document) appendEntries(dst []byte) []byte {
	dst = append(dst, '{')
	for i := range d.fields {
		e := &d.fields[i]
		dst = appendKey(dst, e.key)
		if e.set == nil {
			dst = append(dst, e.raw...)
		} else {
			dst = appendObject(dst, e.set.layout, entryShape, e.set.append)
		}
	}
	return append(dst, '}')
}

// append appends a member, or nothing for a part that the field does not have.
func (w *written) append(dst []byte, name string) []byte {
	switch name {
	case "keys":
		return append(dst, w.keys...)
	case "observed":
		return append(dst, w.observed...)
	case "open":
		return append(dst, w.open...)
	}
	if w.Provenance == (Provenance{}) { // of an event that was never done
		return dst
	}
	return w.Provenance.append(dst, name)
}

func (p *Provenance) append(dst []byte, name string) []byte {
	switch name {
	case "version":
		return appendVersion(dst, p.Version)
	case "at":
		return appendTime(dst, p.At)
	case "program":
		return appendString(dst, p.Program)
	default: // "pid"
		return strconv.AppendInt(dst, int64(p.PID), 10)
	}
}

// adoptedKey is the member of an entry with the version in which a legacy file
// was taken into the field. A release that does not know it keeps it.
var adoptedKey = []byte(`"adopted"`)

// Adopt records that the commit of d's version took a legacy file into the
// field name. Sets and maps do not remember removed elements; with this mark
// none comes back. A field that was never written gets no mark.
func (d *Document) Adopt(name string) {
	i := d.entry(name)
	if i < 0 {
		return
	}
	set := d.fields[i].rewrite()
	layout := slices.DeleteFunc(slices.Clone(set.layout), isAdopted)
	if set.layout == nil {
		layout = entryShape.members(1<<len(entryShape.names) - 1)
	}
	set.layout = append(layout, member{key: adoptedKey, value: appendVersion(nil, d.Version)})
}

// Adopted returns the version in which a legacy file was last taken into the
// field name, or zero.
func (d *Document) Adopted(name string) Version {
	if i := d.entry(name); i >= 0 {
		for _, m := range d.fields[i].layout() {
			if isAdopted(m) {
				v, _ := cutVersion(quoted(m.value)) // nothing vouches for an unknown member
				return v.version()
			}
		}
	}
	return Version{}
}

func isAdopted(m member) bool { return bytes.Equal(unquoteName(m.key), unquoteName(adoptedKey)) }

// Newest returns the largest epoch of d's version and of the versions of its
// fields.
func (d *Document) Newest() uint64 {
	newest := d.Version.Epoch
	for i := range d.fields {
		newest = max(newest, d.fields[i].provenance().Version.Epoch)
	}
	return newest
}

// versionText is a [Version] before its string is made.
type versionText struct {
	epoch, revision uint64
	nonce           []byte
}

func (v versionText) version() Version {
	return Version{Epoch: v.epoch, Revision: v.revision, Nonce: string(v.nonce)}
}

func cutVersion(text []byte) (v versionText, ok bool) {
	v.epoch, v.revision, v.nonce, ok = schema.CutVersion(text)
	if !ok {
		return versionText{}, false
	}
	return v, true
}

// version reads a version.
func (s *scanner) version(name string) versionText {
	text := s.value()
	v, ok := cutVersion(quoted(text))
	if !ok {
		s.refuse(s.at, "%s must be EPOCH.REVISION.NONCE in quotes, not %s", name, excerpt(text))
	}
	return v
}
