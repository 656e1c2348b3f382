package document

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/go-json-experiment/json/jsontext"
)

// Encode returns the text of d's file. See [Document.AppendEncode].
func (d *Document) Encode() ([]byte, error) { return d.AppendEncode(nil) }

// AppendEncode appends the text of d's file to dst. It returns an error, and
// dst as it was, if [Decode] would refuse the text: if d has not been
// committed, if a name is none, if a value is not JSON or null, if the text
// would be longer than [MaxSize].
func (d *Document) AppendEncode(dst []byte) ([]byte, error) {
	if err := d.sound(); err != nil {
		return dst, err
	}
	base, sum := len(dst), 0
	out := slices.Grow(dst, len(d.recent)+len(d.folded)+256*(len(d.fields)+4))
	out = append(out, "{\n\"$sidecar\":"...)
	out = appendObject(out, d.envelope, envelopeNames, func(out []byte, name string) []byte {
		if name == "sum" {
			sum = len(out) + 1
		}
		return d.appendEnvelope(out, name)
	})
	for _, m := range d.members {
		out = append(append(append(out, ",\n"...), m.key...), ':')
		out = append(out, m.value...)
	}
	out = append(out, "\n}\n"...)
	if size := len(out) - base; size > MaxSize {
		return dst, fmt.Errorf("the sidecar would have %d bytes, more than the %d allowed: store less in it", size, MaxSize)
	}
	seal(out[base:], sum-base)
	return out, nil
}

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
		return appendObject(dst, d.writer, writerNames, d.appendWriter)
	case "fields":
		return d.appendEntries(dst)
	case "folded":
		if len(d.folded) == 0 {
			return dst
		}
		return append(append(append(dst, '['), d.folded...), ']')
	case "recent":
		return append(append(append(dst, '['), d.recent...), ']')
	default: // "sum"; seal fills it in
		return append(append(append(dst, '"'), noSum...), '"')
	}
}

func (d *Document) appendWriter(dst []byte, name string) []byte {
	if name == "program" {
		return appendString(dst, d.Writer.Program)
	}
	return appendObject(dst, d.identity, identityNames, d.appendIdentity)
}

// appendIdentity appends nothing for a number or a boot id that the platform
// does not have, and the member is left out.
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

func (d *Document) appendEntries(dst []byte) []byte {
	dst = append(dst, '{')
	for i := range d.fields {
		e := &d.fields[i]
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(dst, e.key...), ':')
		if e.set == nil {
			dst = append(dst, e.raw...)
		} else {
			dst = appendObject(dst, e.set.extra, entryNames, e.set.append)
		}
	}
	return append(dst, '}')
}

// append writes one member. What a field does not have, the incarnations of
// what is no map, is left out, and so is the version of an event that has only
// begun.
func (w *written) append(dst []byte, name string) []byte {
	if w.Provenance == (Provenance{}) && slices.Contains(required, name) {
		return dst
	}
	switch name {
	case "version":
		return append(w.Version.append(append(dst, '"')), '"')
	case "at":
		return appendTime(dst, w.At)
	case "program":
		return appendString(dst, w.Program)
	case "pid":
		return strconv.AppendInt(dst, int64(w.PID), 10)
	case "keys":
		return append(dst, w.keys...)
	case "observed":
		return append(dst, w.observed...)
	default: // "open"
		return append(dst, w.open...)
	}
}

// appendObject appends an object: first the members of old in their order,
// then those of names that old lacks. Unknown members go out in their own
// bytes; write appends the value of a known one, or nothing to leave it out.
func appendObject(dst []byte, old []member, names []string, write func(dst []byte, name string) []byte) []byte {
	dst = append(dst, '{')
	begin := len(dst)
	for i := range old {
		m := &old[i]
		start := len(dst)
		if start > begin {
			dst = append(dst, ',')
		}
		dst = append(append(dst, m.key...), ':')
		if m.value != nil {
			dst = append(dst, m.value...)
			continue
		}
		value := len(dst)
		if dst = write(dst, known(names, m)); len(dst) == value {
			dst = dst[:start]
		}
	}
	for _, name := range names {
		if len(old) > 0 && contains(old, name) {
			continue
		}
		start := len(dst)
		if start > begin {
			dst = append(dst, ',')
		}
		dst = append(append(append(dst, '"'), name...), '"', ':')
		value := len(dst)
		if dst = write(dst, name); len(dst) == value {
			dst = dst[:start]
		}
	}
	return append(dst, '}')
}

// known returns the one of names that is m's.
func known(names []string, m *member) string {
	i := slices.IndexFunc(names, m.is)
	return names[i]
}

func appendString(dst []byte, s string) []byte {
	dst, _ = jsontext.AppendQuote(dst, s) // valid UTF-8: sound checked it
	return dst
}

func appendTime(dst []byte, t time.Time) []byte {
	dst, _ = schema.Time{}.Append(dst, t) // a year that fits: sound checked it
	return dst
}

func appendNonzero(dst []byte, n uint64) []byte {
	if n == 0 {
		return dst
	}
	return strconv.AppendUint(dst, n, 10)
}
