package document

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/freehold-dev/freehold/schema"
)

// envelopeName is the member of a sidecar that is not a field.
const envelopeName = "$sidecar"

// The members that this release knows, in the order in which it writes them.
var (
	envelopeNames = []string{"format", "owner", "state", "epoch", "nonce", "revision", "written_at", "writer", "fields", "folded", "recent", "sum"}
	envelopeNeeds = slices.DeleteFunc(slices.Clone(envelopeNames), func(name string) bool { return name == "folded" })
	writerNames   = []string{"program", "identity"}
	identityNames = []string{"boot", "pid_ns", "pid", "start", "nonce", "pidfd"}
	entryNames    = []string{"version", "at", "program", "pid", "keys", "observed", "open"}
	required      = entryNames[:4]
)

// Decode reads a sidecar. It returns an error that wraps [ErrInvalid] if data
// is none, and [ErrForeign] if it is one that Freehold did not write. Whose
// sidecar it is [Document.Belongs] checks. Decode keeps no reference to data.
func Decode(data []byte) (*Document, error) {
	text := bytes.Clone(data)
	d, sum, err := decode(text)
	if err != nil {
		return nil, err
	}
	if !sealed(text, sum) {
		return nil, ErrForeign
	}
	return d, nil
}

// decode reads text, which becomes the Document's, and returns the offset of
// the sum's digits.
func decode(text []byte) (*Document, int, error) {
	if d, sum, ok := usual(text); ok {
		return d, sum, nil
	}
	return decodeAny(text)
}

// decodeAny is decode for a text of any layout.
func decodeAny(text []byte) (*Document, int, error) {
	if err := notText(text); err != nil {
		return nil, 0, err
	}
	d, sum := new(Document), 0
	s := scan(text, 0, func(s *scanner) { sum, _ = s.document(d) })
	defer s.release()
	if err := s.failure(); err != nil {
		return nil, 0, err
	}
	return d, sum, nil
}

// document reads a file into d. It returns the offset of the sum's digits, and
// whether the file is an object at all.
func (s *scanner) document(d *Document) (sum int, ok bool) {
	whose := false
	object := s.object("the file", func(key, name []byte) {
		if string(name) == envelopeName {
			whose = true
			sum = s.envelope(d)
			return
		}
		if d.members == nil {
			d.members = make([]member, 0, len(d.fields)+1)
		}
		d.members = append(d.members, member{key, s.value(), s.at})
	})
	if object != nil && !whose {
		s.format = &SyntaxError{0, `the object has no "$sidecar", so Freehold did not write it`}
	}
	return sum, object != nil
}

func (s *scanner) envelope(d *Document) (sum int) {
	d.envelope = make([]member, 0, len(envelopeNames)+1)
	start, known, numbered := s.pos(), 0, false
	object := s.object(`"$sidecar"`, func(key, name []byte) {
		m := member{key: key}
		known++
		switch string(name) {
		case "format":
			numbered = true
			s.formatNumber()
		case "owner":
			d.Owner = s.string(name)
			if !schema.ValidName(d.Owner) {
				s.refuse(s.at, "the owner %.80q is no name: want %s", d.Owner, schema.NameRule)
			}
		case "state":
			if d.State = s.string(name); d.State == "" {
				s.refuse(s.at, "the state id is empty")
			}
		case "epoch":
			d.Version.Epoch = s.count(name)
		case "nonce":
			d.Version.Nonce = s.nonce(name)
		case "revision":
			d.Version.Revision = s.count(name)
		case "written_at":
			d.WrittenAt = s.instant(name)
		case "writer":
			s.writer(d)
		case "fields":
			s.entries(d)
		case "recent":
			d.recent = s.ids(name, MaxRecent)
		case "folded":
			known--
			d.folded = s.ids(name, MaxFolded)
		case "sum":
			sum = s.sum(name)
		default:
			known--
			m.value = s.value()
		}
		d.envelope = append(d.envelope, m)
	}, envelopeNames...)
	if object != nil && !numbered {
		s.format = &SyntaxError{int64(start), `"$sidecar" has no format number`}
	}
	if known < len(envelopeNeeds) {
		s.complete(object, `"$sidecar"`, d.envelope, envelopeNeeds)
	}
	return sum
}

func (s *scanner) formatNumber() {
	v := s.value()
	if s.err != nil || string(v) == strconv.Itoa(Format) {
		return
	}
	if isNewer(v) {
		s.format = &FormatError{string(v)}
		return
	}
	s.format = &SyntaxError{int64(s.at), "the format must be the number 1, not " + excerpt(v)}
}

// isNewer reports whether v is an integer above [Format], however large.
func isNewer(v []byte) bool {
	return len(v) < 40 && v[0] != '0' && len(bytes.Trim(v, "0123456789")) == 0
}

func (s *scanner) writer(d *Document) {
	d.writer = make([]member, 0, len(writerNames))
	object := s.object("the writer", func(key, name []byte) {
		m := member{key: key}
		switch string(name) {
		case "program":
			d.Writer.Program = s.string(name)
		case "identity":
			s.process(d)
		default:
			m.value = s.value()
		}
		d.writer = append(d.writer, m)
	}, writerNames...)
	s.complete(object, "the writer", d.writer, writerNames)
}

func (s *scanner) process(d *Document) {
	id := &d.Writer.Identity
	d.identity = make([]member, 0, len(identityNames))
	object := s.object("the identity", func(key, name []byte) {
		m := member{key: key}
		switch string(name) {
		case "boot":
			id.Boot = s.string(name)
		case "pid_ns":
			id.PIDNamespace = s.uint(name)
		case "pid":
			id.PID = s.pid(name)
		case "start":
			id.Start = s.uint(name)
		case "nonce":
			id.Nonce = s.string(name)
		case "pidfd":
			id.PIDFD = s.uint(name)
		default:
			m.value = s.value()
		}
		d.identity = append(d.identity, m)
	}, identityNames...)
	s.complete(object, "the identity", d.identity, []string{"pid", "nonce"})
}

// complete refuses an object that lacks one of names.
func (s *scanner) complete(object []byte, what string, have []member, names []string) {
	if object == nil || s.err != nil {
		return
	}
	for _, name := range names {
		if !contains(have, name) {
			s.refuse(s.pos()-1, "%s has no %q", what, name)
		}
	}
}

func contains(members []member, name string) bool {
	return slices.ContainsFunc(members, func(m member) bool { return m.is(name) })
}

// split returns the members of an object that a scanner has read.
func split(object []byte) (members []member) {
	if object == nil {
		return nil
	}
	scan(object, 0, func(s *scanner) {
		s.object("", func(key, _ []byte) { members = append(members, member{key: key, value: s.value()}) })
	}).release()
	return members
}
