package schema

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// Limits bound a JSON text before anything is built from it: a text of a few
// bytes for each value costs a decoder fifty times its size. A limit of zero
// is none.
type Limits struct {
	Depth    int // how deep objects and arrays may nest
	Members  int // of one object
	Elements int // of one array
	Values   int // objects, arrays, names and values altogether
	Text     int // bytes of one name, text or number, or of the white space between two
}

// A LimitError says which limit a text exceeds and at which byte.
type LimitError struct {
	Offset int
	what   string
	limit  int
}

func (e *LimitError) Error() string { return fmt.Sprintf(e.what, e.limit) }

// Check returns a *[LimitError] if text, which need not be JSON, exceeds a
// limit, and else nil. It stops at the byte where the limit is exceeded.
func (l Limits) Check(text []byte) error {
	m := Meter{Limits: l}
	_, err := m.Write(text)
	return err
}

// A Meter holds a text to its limits while the text comes in. It goes by
// brackets, quotes, colons and commas and leaves it to the decoder whether they
// stand where they may.
type Meter struct {
	Limits
	offset  int    // bytes written so far
	open    []nest // the objects and arrays
	values  int
	text    int  // bytes of the present name, text, number or white space
	blank   bool // it is white space
	quoted  bool // within a string
	escaped bool // after a backslash in it
}

// A nest is an object or an array that is open.
type nest struct {
	array bool
	parts int
}

// Write takes the next bytes of the text in. It returns a *[LimitError] if they
// exceed a limit.
func (m *Meter) Write(p []byte) (int, error) {
	for i := 0; i < len(p); i++ {
		n, ok := 1, true
		switch c := p[i]; {
		case m.quoted:
			n = m.string(p[i:])
			m.text += n
		case isBlank(c):
			n = blanks(p[i:])
			m.run(true, n)
		case c == '"':
			m.quoted, m.blank, m.text = true, false, 0
		case c == '{', c == '[', c == '}', c == ']', c == ':', c == ',':
			m.blank, m.text, ok = false, 0, m.mark(c)
		default:
			m.run(false, 1)
		}
		if !ok || m.Text > 0 && m.text > m.Text {
			return i, m.exceeds(i)
		}
		i += n - 1
	}
	m.offset += len(p)
	return len(p), nil
}

// run folds n bytes that are white space or not, as those before them or
// not.
func (m *Meter) run(blank bool, n int) {
	if m.blank != blank {
		m.blank, m.text = blank, 0
	}
	m.text += n
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// blanks returns how many bytes at the beginning of p are white space. Of spaces
// there may be very many, so that eight are looked at together.
func blanks(p []byte) (n int) {
	const spaces = 0x2020202020202020
	for ; len(p)-n >= 8 && binary.LittleEndian.Uint64(p[n:]) == spaces; n += 8 {
	}
	for ; n < len(p) && isBlank(p[n]); n++ {
	}
	return n
}

// mark takes a bracket, a colon or a comma in, and reports whether that keeps
// to the limits.
func (m *Meter) mark(c byte) bool {
	top := new(nest)
	if len(m.open) > 0 {
		top = &m.open[len(m.open)-1]
	}
	switch c {
	case '{', '[':
		m.values++
		m.open = append(m.open, nest{array: c == '['})
	case '}', ']':
		m.open = m.open[:max(len(m.open)-1, 0)]
	case ':':
		m.values++
		if !top.array {
			top.parts++
		}
	case ',':
		m.values++
		if top.array {
			top.parts++
		}
	}
	switch {
	case m.Depth > 0 && len(m.open) > m.Depth, m.Values > 0 && m.values > m.Values:
		return false
	case top.array:
		return m.Elements == 0 || top.parts < m.Elements
	}
	return m.Members == 0 || top.parts <= m.Members
}

// string returns how many bytes of p, which begins within a string, are of it,
// with the quote that ends it.
func (m *Meter) string(p []byte) int {
	if m.escaped {
		m.escaped = false
		return 1
	}
	p = p[:min(len(p), 256)] // else many escapes would make this quadratic
	quote := bytes.IndexByte(p, '"')
	if quote >= 0 {
		p = p[:quote+1]
	}
	if escape := bytes.IndexByte(p, '\\'); escape >= 0 {
		m.escaped = true
		return escape + 1
	}
	m.quoted = quote < 0
	return len(p)
}

// exceeds says which limit is exceeded.
func (m *Meter) exceeds(at int) error {
	at += m.offset
	switch {
	case m.Text > 0 && m.text > m.Text && m.blank:
		return &LimitError{at, "white space of more than %d bytes", m.Text}
	case m.Text > 0 && m.text > m.Text:
		return &LimitError{at, "a name, text or number of more than %d bytes", m.Text}
	case m.Depth > 0 && len(m.open) > m.Depth:
		return &LimitError{at, "nested deeper than %d", m.Depth}
	case m.Values > 0 && m.values > m.Values:
		return &LimitError{at, "more than %d names and values", m.Values}
	case m.open[len(m.open)-1].array:
		return &LimitError{at, "more than %d elements in one array", m.Elements}
	}
	return &LimitError{at, "more than %d members in one object", m.Members}
}
