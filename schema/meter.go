package schema

import (
	"bytes"
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
	format string
	limit  int
}

func (e *LimitError) Error() string { return fmt.Sprintf(e.format, e.limit) }

// Check returns a *[LimitError] if text, which need not be JSON, exceeds a
// limit, and else nil. It goes by brackets, quotes, colons and commas and leaves
// it to the decoder whether they stand where they may.
func (l Limits) Check(text []byte) error {
	m := meter{Limits: l}
	for i := 0; i < len(text); {
		end, format := i+1, "a name, text or number of more than %d bytes"
		switch text[i] {
		case '{', '[', '}', ']', ':', ',':
			if !m.mark(text[i]) {
				return m.exceeds(i)
			}
		case ' ', '\t', '\r', '\n':
			end += len(text[end:]) - len(bytes.TrimLeft(text[end:], " \t\r\n"))
			format = "white space of more than %d bytes"
		case '"':
			end = stringEnd(text, i)
		default:
			if end = i + bytes.IndexAny(text[i:], "{}[]:,\" \t\r\n"); end < i {
				end = len(text)
			}
		}
		if l.Text > 0 && end-i > l.Text {
			return &LimitError{i, format, l.Text}
		}
		i = end
	}
	return nil
}

// stringEnd returns the offset after the string that begins at start, or the
// length of text if the string does not end.
func stringEnd(text []byte, start int) int {
	for i := start + 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

// A meter counts the parts of a text.
type meter struct {
	Limits
	open   []nest // the objects and arrays
	values int
}

// A nest is an object or an array that is open.
type nest struct {
	array bool
	parts int
}

// mark counts a bracket, a colon or a comma, and reports whether the text keeps to
// the limits.
func (m *meter) mark(c byte) bool {
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

// exceeds returns the error of the limit that the byte at an offset exceeds.
func (m *meter) exceeds(at int) error {
	switch {
	case m.Depth > 0 && len(m.open) > m.Depth:
		return &LimitError{at, "nested deeper than %d", m.Depth}
	case m.Values > 0 && m.values > m.Values:
		return &LimitError{at, "more than %d names and values", m.Values}
	case m.open[len(m.open)-1].array:
		return &LimitError{at, "more than %d elements in one array", m.Elements}
	}
	return &LimitError{at, "more than %d members in one object", m.Members}
}
