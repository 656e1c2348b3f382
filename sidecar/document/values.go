package document

import (
	"bytes"
	"fmt"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// The methods here read one value each and refuse one of another type. name is
// the member's.

func (s *scanner) string(name []byte) string {
	v := s.value()
	if s.err != nil {
		return ""
	}
	if v[0] != '"' {
		s.refuse(s.at, "%s must be a string, not %s", name, kind(v))
		return ""
	}
	if bytes.IndexByte(v, '\\') >= 0 {
		text, _ := jsontext.AppendUnquote(nil, v) // valid: the scanner read it
		return string(text)
	}
	return string(v[1 : len(v)-1])
}

func (s *scanner) uint(name []byte) uint64 {
	v := s.value()
	if s.err != nil {
		return 0
	}
	n, err := strconv.ParseUint(string(v), 10, 64)
	if err != nil {
		s.refuse(s.at, "%s must be an integer of 64 bits, not %s", name, excerpt(v))
	}
	return n
}

func (s *scanner) pid(name []byte) int {
	v := s.value()
	pid, ok := parsePID(v)
	if !ok && s.err == nil {
		s.refuse(s.at, "%s must be a process id, not %s", name, excerpt(v))
	}
	return pid
}

func parsePID(text []byte) (int, bool) {
	n, ok := parseCount(text)
	if !ok || n > maxPID {
		return 0, false
	}
	return int(n), true
}

const maxPID = 1<<31 - 1

// count reads an epoch or a revision.
func (s *scanner) count(name []byte) uint64 {
	v := s.value()
	if s.err != nil {
		return 0
	}
	n, ok := parseCount(v)
	if !ok {
		s.refuse(s.at, "%s must be an integer from 0 to %d, not %s", name, uint64(MaxEpoch), excerpt(v))
	}
	return n
}

func (s *scanner) nonce(name []byte) string {
	v := s.value()
	if s.err != nil {
		return ""
	}
	if v[0] != '"' || !validNonce(v[1:len(v)-1]) {
		s.refuse(s.at, "%s must be 13 characters of lower-case base32hex, not %s", name, excerpt(v))
		return ""
	}
	return string(v[1 : len(v)-1])
}

func (s *scanner) version(name []byte) Version {
	v := s.value()
	if s.err != nil {
		return Version{}
	}
	parts, ok := snapshotVersion(bytes.Trim(v, `"`))
	if !ok || v[0] != '"' {
		s.refuse(s.at, "%s must be EPOCH.REVISION.NONCE in quotes, not %s", name, excerpt(v))
	}
	return parts.version()
}

func (s *scanner) instant(name []byte) time.Time {
	v := s.value()
	if s.err != nil {
		return time.Time{}
	}
	t, ok := parseTime(bytes.Trim(v, `"`))
	if !ok || v[0] != '"' {
		s.refuse(s.at, "%s must be an instant in UTC such as \"2026-08-11T09:12:44.031Z\", not %s", name, excerpt(v))
	}
	return t
}

// parseTime reads an instant exactly as schema.Time writes it; UnmarshalText
// lets "T9:12:44" and fractions with zeros at the end pass.
func parseTime(text []byte) (t time.Time, ok bool) {
	const whole, most = len("2006-01-02T15:04:05"), len("2006-01-02T15:04:05.999999999Z")
	last := len(text) - 1
	if last < whole || len(text) > most || text[last] != 'Z' || text[13] != ':' || text[16] != ':' || string(text[:4]) == "0000" {
		return t, false
	}
	if last > whole && (text[whole] != '.' || text[last-1] == '0' || last == whole+1) {
		return t, false
	}
	err := t.UnmarshalText(text)
	return t, err == nil && !t.IsZero()
}

// ids reads a list of nonces, most of them at most.
func (s *scanner) ids(name []byte, most int) ids {
	v := s.value()
	if s.err != nil {
		return nil
	}
	list, ok := parseIDs(v, most)
	if !ok {
		s.refuse(s.at, "%s must be a list of at most %d nonces", name, most)
	}
	return list
}

// sum reads the sum and returns the offset of its digits.
func (s *scanner) sum(name []byte) int {
	v := s.value()
	if s.err != nil {
		return 0
	}
	if v[0] != '"' || !isSum(v[1:len(v)-1]) {
		s.refuse(s.at, "%s must be %d hexadecimal digits in quotes, not %s", name, sumDigits, excerpt(v))
	}
	return s.at + 1
}

// excerpt returns a value for a message: on one line, of a length that fits it,
// and without characters that a terminal would obey.
func excerpt(v []byte) string {
	if k := jsontext.Value(v).Kind(); k == jsontext.KindBeginObject || k == jsontext.KindBeginArray {
		return kind(v)
	}
	text, err := jsontext.AppendUnquote(nil, v)
	if err != nil { // a number or a literal
		return fmt.Sprintf("%.40s", v)
	}
	return fmt.Sprintf("%.40q", text)
}
