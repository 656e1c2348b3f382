package document

import (
	"strconv"

	"github.com/freehold-dev/freehold/schema"
)

// envelopeName is the member of a sidecar that is not a field.
const envelopeName = "$sidecar"

var (
	envelopeShape = &shape{
		names:    []string{"format", "owner", "state", "epoch", "nonce", "revision", "written_at", "writer", "fields", "folded", "recent", "sum"},
		optional: []string{"folded"},
	}
	writerShape   = &shape{names: []string{"program", "identity"}}
	identityShape = &shape{
		names:    []string{"boot", "pid_ns", "pid", "start", "nonce", "pidfd"},
		optional: []string{"boot", "pid_ns", "start", "pidfd"},
	}
)

// envelope reads "$sidecar" and returns the offset of the sum's digits.
func (s *scanner) envelope(d *Document) (sum int) {
	start, numbered := s.pos, false
	d.envelope = s.object(`"$sidecar"`, envelopeShape, func(name string) {
		switch name {
		case "format":
			numbered = true
			s.formatNumber()
		case "fields":
			s.entries(d)
		case "sum":
			sum = s.sum(name)
		case "writer":
			s.writer(d)
		case "folded":
			d.folded = s.ids(name, MaxFolded)
		case "recent":
			d.recent = s.ids(name, MaxRecent)
		default:
			s.commit(d, name)
		}
	})
	if !numbered && s.text[start] == '{' {
		s.format = &SyntaxError{int64(start), `"$sidecar" has no format number`}
	}
	return sum
}

// commit reads a member about the commit that wrote the file.
func (s *scanner) commit(d *Document, name string) {
	switch name {
	case "owner":
		d.Owner = s.owner(name)
	case "state":
		if d.State = s.string(name); d.State == "" {
			s.refuse(s.at, "the state id is empty")
		}
	case "epoch":
		d.Version.Epoch = s.count(name, schema.MaxEpoch)
	case "nonce":
		d.Version.Nonce = s.nonce(name)
	case "revision":
		d.Version.Revision = s.count(name, schema.MaxRevision)
	case "written_at":
		d.WrittenAt = s.instant(name)
	}
}

func (s *scanner) owner(name string) string {
	owner := s.string(name)
	if !schema.ValidName(owner) {
		s.refuse(s.at, "the owner %.80q is not a name: want %s", owner, schema.NameRule)
	}
	return owner
}

func (s *scanner) writer(d *Document) {
	d.writer = s.object("the writer", writerShape, func(name string) {
		if name == "program" {
			d.Writer.Program = s.string(name)
		} else {
			s.identity(d)
		}
	})
}

func (s *scanner) identity(d *Document) {
	id := &d.Writer.Identity
	d.identity = s.object("the identity", identityShape, func(name string) {
		switch name {
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
		}
	})
}

// appendEnvelope appends a member of "$sidecar", or nothing to leave it out.
func (d *Document) appendEnvelope(dst []byte, name string) []byte {
	switch name {
	case "format":
		return strconv.AppendInt(dst, Format, 10)
	case "owner":
		return appendString(dst, d.Owner)
	case "state":
		return appendString(dst, d.State)
	case "epoch":
		return strconv.AppendUint(dst, d.Version.Epoch, 10)
	case "nonce":
		return appendString(dst, d.Version.Nonce)
	case "revision":
		return strconv.AppendUint(dst, d.Version.Revision, 10)
	case "written_at":
		return appendTime(dst, d.WrittenAt)
	case "writer":
		return appendObject(dst, d.writer, writerShape, d.appendWriter)
	case "fields":
		return d.appendEntries(dst)
	case "folded":
		if len(d.folded) == 0 {
			return dst
		}
		return d.folded.append(dst)
	case "recent":
		return d.recent.append(dst)
	default: // "sum"; seal fills it in
		return append(append(append(dst, '"'), noSum...), '"')
	}
}

func (d *Document) appendWriter(dst []byte, name string) []byte {
	if name == "program" {
		return appendString(dst, d.Writer.Program)
	}
	return appendObject(dst, d.identity, identityShape, d.appendIdentity)
}

// appendIdentity appends a member of the identity, or nothing for a number or
// a boot id that the platform does not have.
func (d *Document) appendIdentity(dst []byte, name string) []byte {
	id := &d.Writer.Identity
	switch name {
	case "boot":
		if id.Boot == "" {
			return dst
		}
		return appendString(dst, id.Boot)
	case "pid_ns":
		return appendNonzero(dst, id.PIDNamespace)
	case "pid":
		return strconv.AppendInt(dst, int64(id.PID), 10)
	case "start":
		return appendNonzero(dst, id.Start)
	case "nonce":
		return appendString(dst, id.Nonce)
	default: // "pidfd"
		return appendNonzero(dst, id.PIDFD)
	}
}
