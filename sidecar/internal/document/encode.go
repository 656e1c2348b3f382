package document

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/go-json-experiment/json/jsontext"
)

// Encode returns the text of d's file. See [Document.AppendEncode].
func (d *Document) Encode() ([]byte, error) { return d.AppendEncode(nil) }

// AppendEncode appends the text of d's file to dst. It returns dst unchanged
// and an error if [Decode] would refuse the text: if d was never committed, a
// name is invalid, a value is null or not JSON, or the text is longer than
// [MaxSize].
func (d *Document) AppendEncode(dst []byte) ([]byte, error) {
	if err := d.validate(); err != nil {
		return dst, err
	}
	base, sum := len(dst), 0
	out := slices.Grow(dst, len(d.recent)+len(d.folded)+256*(len(d.fields)+4))
	out = append(out, "{\n\"$sidecar\":"...)
	out = appendObject(out, d.envelope, envelopeShape, func(out []byte, name string) []byte {
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
		return dst, fmt.Errorf("the sidecar would have %d bytes, more than the %d allowed", size, MaxSize)
	}
	seal(out[base:], sum-base)
	return out, nil
}

// appendObject appends an object: first the members of its layout, then the
// known ones that the layout lacks. Unknown members keep their bytes; write
// appends the value of a known one, or nothing to leave it out.
func appendObject(dst []byte, layout []member, f *shape, write func(dst []byte, name string) []byte) []byte {
	dst = append(dst, '{')
	var written uint32 // by index in f.names
	for i := range layout {
		m := &layout[i]
		if m.value != nil {
			dst = append(appendKey(dst, m.key), m.value...)
			continue
		}
		known := f.index(m.key, 0)
		written |= 1 << known
		dst = appendKnown(dst, m.key, f.names[known], write)
	}
	for i, name := range f.names {
		if written&(1<<i) == 0 {
			dst = appendKnown(dst, nil, name, write)
		}
	}
	return append(dst, '}')
}

// appendKnown appends a known member, or nothing if write appends nothing. If
// key is nil, the key is the name in quotes.
func appendKnown(dst, key []byte, name string, write func(dst []byte, name string) []byte) []byte {
	start := len(dst)
	if key != nil {
		dst = appendKey(dst, key)
	} else {
		dst = append(append(append(appendComma(dst), '"'), name...), `":`...)
	}
	value := len(dst)
	if dst = write(dst, name); len(dst) == value {
		return dst[:start]
	}
	return dst
}

// appendKey appends a key in its quotes and a colon, after a comma if the key
// is not the first of its object.
func appendKey(dst, key []byte) []byte { return append(append(appendComma(dst), key...), ':') }

func appendComma(dst []byte) []byte {
	if dst[len(dst)-1] == '{' {
		return dst
	}
	return append(dst, ',')
}

func appendString(dst []byte, s string) []byte {
	dst, _ = jsontext.AppendQuote(dst, s) // valid UTF-8: validate checked it
	return dst
}

func appendTime(dst []byte, t time.Time) []byte {
	dst, _ = schema.Time.Append(dst, t) // a year that fits: validate checked it
	return dst
}

// appendVersion appends a version in quotes.
func appendVersion(dst []byte, v schema.Version) []byte {
	dst, _ = v.AppendText(append(dst, '"')) // never fails
	return append(dst, '"')
}

func appendNonzero(dst []byte, n uint64) []byte {
	if n == 0 {
		return dst
	}
	return strconv.AppendUint(dst, n, 10)
}

const sumDigits = 2 * sha256.Size

var noSum = bytes.Repeat([]byte{'0'}, sumDigits)

// seal puts the sum of text into text, where its digits begin at an offset.
func seal(text []byte, at int) {
	digits := text[at : at+sumDigits]
	copy(digits, noSum)
	sum := sha256.Sum256(text)
	hex.Encode(digits, sum[:])
}

// sealed reports whether the digits at an offset of text are its sum.
func sealed(text []byte, at int) bool {
	var found [sumDigits]byte
	digits := text[at : at+sumDigits]
	copy(found[:], digits)
	seal(text, at)
	matches := bytes.Equal(digits, found[:])
	copy(digits, found[:])
	return matches
}
