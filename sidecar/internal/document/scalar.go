package document

import (
	"bytes"
	"strconv"
	"time"

	"github.com/freehold-dev/freehold/schema"
)

// The methods here read one value each and refuse another type. name is the
// member's.

const maxPID = 1<<31 - 1

// quoted returns the content of a string that needs no unquoting to be judged,
// and of any other value nil.
func quoted(value []byte) []byte {
	if value[0] != '"' {
		return nil
	}
	return value[1 : len(value)-1]
}

// bytes reads a string, without copying unless the string has escapes.
func (s *scanner) bytes(name string) []byte {
	v := s.value()
	if v[0] != '"' {
		s.refuse(s.at, "%s must be a string, not %s", name, kind(v))
		return nil
	}
	return unquoteName(v)
}

func (s *scanner) string(name string) string { return string(s.bytes(name)) }

func (s *scanner) uint(name string) uint64 {
	v := s.value()
	n, err := strconv.ParseUint(string(v), 10, 64)
	if err != nil {
		s.refuse(s.at, "%s must be an integer of 64 bits, not %s", name, excerpt(v))
	}
	return n
}

func (s *scanner) pid(name string) int {
	v := s.value()
	pid, ok := schema.ParseCount(v, maxPID)
	if !ok {
		s.refuse(s.at, "%s must be a process id, not %s", name, excerpt(v))
	}
	return int(pid)
}

// count reads an integer from 0 to most.
func (s *scanner) count(name string, most uint64) uint64 {
	v := s.value()
	n, ok := schema.ParseCount(v, most)
	if !ok {
		s.refuse(s.at, "%s must be an integer from 0 to %d, not %s", name, most, excerpt(v))
	}
	return n
}

func (s *scanner) nonce(name string) string {
	v := s.value()
	if !schema.ValidNonce(quoted(v)) {
		s.refuse(s.at, "%s must be 13 characters of lower-case base32hex, not %s", name, excerpt(v))
		return ""
	}
	return string(quoted(v))
}

// instant reads an instant, of which another layout is refused: a reader of
// another language would have to know them all.
func (s *scanner) instant(name string) time.Time {
	v := s.value()
	t, ok := parseTime(quoted(v))
	if !ok {
		s.refuse(s.at, "%s must be an instant in UTC such as \"2026-08-11T09:12:44.031Z\", not %s", name, excerpt(v))
	}
	return t
}

// parseTime parses an instant exactly as schema.Time writes it. UnmarshalText
// would accept "T9:12:44" and fractions with zeros at the end.
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

// sum reads the sum and returns the offset of its digits.
func (s *scanner) sum(name string) int {
	v := s.value()
	if digits := quoted(v); len(digits) != sumDigits || len(bytes.Trim(digits, "0123456789abcdef")) > 0 {
		s.refuse(s.at, "%s must be %d hexadecimal digits in quotes, not %s", name, sumDigits, excerpt(v))
	}
	return s.at + 1
}

// formatNumber reads the format number.
func (s *scanner) formatNumber() {
	v := s.value()
	switch {
	case string(v) == strconv.Itoa(Format):
	case isNewer(v):
		s.format = formatError(v)
	default:
		s.format = &SyntaxError{int64(s.at), "the format must be the number 1, not " + excerpt(v)}
	}
}

// isNewer reports whether v is an integer above [Format], however large.
func isNewer(v []byte) bool {
	return len(v) < 40 && v[0] != '0' && len(bytes.Trim(v, "0123456789")) == 0
}
