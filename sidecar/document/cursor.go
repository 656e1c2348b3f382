package document

import (
	"bytes"
	"encoding/binary"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// A cursor reads a text that it knows in advance up to its values. Once ok is
// false, something else stood there, and what it returns means nothing.
type cursor struct {
	text []byte
	pos  int
	ok   bool
}

func (c *cursor) rest() []byte { return c.text[c.pos:] }

// since returns the text from an offset to here; appending to it copies it.
func (c *cursor) since(start int) []byte { return c.text[start:c.pos:c.pos] }

func (c *cursor) skipIf(want string) bool {
	if rest := c.rest(); len(rest) < len(want) || string(rest[:len(want)]) != want {
		return false
	}
	c.pos += len(want)
	return true
}

func (c *cursor) skip(want string) { c.ok = c.ok && c.skipIf(want) }

// plain reads the rest of a string and its closing quote. Whether escapes and
// letters beyond ASCII are right is for others to say.
func (c *cursor) plain() []byte {
	end := bytes.IndexByte(c.rest(), '"')
	if end < 0 {
		c.ok = false
		return nil
	}
	start := c.pos
	c.pos += end
	content := c.since(start)
	c.pos++
	c.ok = c.ok && isPlain(content)
	return content
}

// digits reads the digits that stand here.
func (c *cursor) digits() []byte {
	start := c.pos
	for c.pos < len(c.text) && c.text[c.pos]-'0' <= 9 {
		c.pos++
	}
	return c.since(start)
}

func (c *cursor) count() uint64 {
	n, ok := parseCount(c.digits())
	c.ok = c.ok && ok
	return n
}

func (c *cursor) pid() int {
	pid, ok := parsePID(c.digits())
	c.ok = c.ok && ok
	return pid
}

func (c *cursor) nonce() []byte {
	nonce := c.plain()
	c.ok = c.ok && validNonce(nonce)
	return nonce
}

func (c *cursor) instant() time.Time {
	t, ok := parseTime(c.plain())
	c.ok = c.ok && ok
	return t
}

// scalar reads a value that is neither null nor nested, up to the end of its
// line or the comma there.
func (c *cursor) scalar() []byte {
	end := bytes.IndexByte(c.rest(), '\n')
	if end < 1 {
		c.ok = false
		return nil
	}
	if c.text[c.pos+end-1] == ',' {
		end--
	}
	start := c.pos
	c.pos += end
	value := c.since(start)
	c.ok = c.ok && isScalar(value)
	return value
}

func isScalar(value []byte) bool {
	last := len(value) - 1
	if last < 0 || value[0] <= ' ' || value[last] <= ' ' {
		return false
	}
	switch c := value[0]; {
	case c == '{', c == '[', c == 'n':
		return false
	case c == '"' && last > 0 && value[last] == '"' && isPlain(value[1:last]) && bytes.IndexByte(value[1:last], '"') < 0:
		return true
	}
	if _, ok := parseCount(value); ok {
		return true
	}
	return jsontext.Value(value).IsValid()
}

// distinct holds that no two of n keys are the same. For very many the scanner
// is the faster one.
func (c *cursor) distinct(n int, key func(int) []byte) {
	const most = 32
	c.ok = c.ok && n <= most
	for i := 0; c.ok && i < n; i++ {
		for j := range i {
			c.ok = c.ok && !bytes.Equal(key(i), key(j))
		}
	}
}

// isPlain reports whether text stands for itself in a string: ASCII without
// control characters, quotes not looked for, backslashes refused.
func isPlain(text []byte) bool {
	return isASCII(text) && bytes.IndexByte(text, '\\') < 0
}

// isASCII reports whether text is ASCII without control characters, eight bytes
// at a time.
func isASCII(text []byte) bool {
	const high, spaces = 0x8080808080808080, 0x2020202020202020
	for ; len(text) >= 8; text = text[8:] {
		// The lowest byte below a space shows in its high bit of the
		// difference; without one, no byte borrows from another.
		if w := binary.LittleEndian.Uint64(text); (w|(w-spaces))&high != 0 {
			return false
		}
	}
	for _, c := range text {
		if c < ' ' || c >= 0x80 {
			return false
		}
	}
	return true
}
