// Package witness spells the lines that a lock file holds: the id of the file,
// the newest versions of the owner's sidecar, and the claims of the owner. They
// show that an older sidecar was put back, or a sidecar or claim removed. They
// raise an alarm and grant nothing: a blank or torn line says nothing.
package witness

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/freehold-dev/freehold/schema"
)

// The lines of a lock file. Each has a sector of its own, or lies within one, so
// that a power cut leaves the old line or the new one.
const (
	IDSize   = 512 // bytes of the line with the id, the first one
	Offset   = 512 // of the witness
	Size     = 512 // bytes of the witness
	slots    = 1024
	SlotSize = 128 // bytes of the line of a claim
)

// SlotOffset returns the offset of the line of the claim with the given place.
func SlotOffset(place int) int64 { return slots + SlotSize*int64(place) }

// A Witness holds the newest versions of a sidecar. The zero value says nothing.
type Witness struct {
	// Published is the newest version that was published, and Durable the newest
	// one that is known to be on disk.
	Published, Durable schema.Version
	// Boot is the id of the boot in which Published was published. After another
	// boot power may have been lost, so that Durable alone counts.
	Boot string
}

// Newest returns the version that the sidecar has reached for sure, in the boot
// with the given id; or zero.
func (w Witness) Newest(boot string) schema.Version {
	if boot != "" && w.Boot == boot {
		return w.Published
	}
	return w.Durable
}

var noSum = bytes.Repeat([]byte{'0'}, 2*sha256.Size)

// Append appends the line of w.
func (w Witness) Append(dst []byte) []byte {
	return seal(fmt.Appendf(dst, `{"published":"%v","durable":"%v","boot":"%s","sum":"`, w.Published, w.Durable, w.Boot), len(dst), Size)
}

// AppendClaim appends the line of the claim with a nonce, or a blank one.
func AppendClaim(dst []byte, nonce string) []byte {
	if nonce == "" {
		return pad(dst, len(dst), SlotSize)
	}
	return seal(fmt.Appendf(dst, `{"claim":"%s","sum":"`, nonce), len(dst), SlotSize)
}

// AppendID appends the line with the id of a lock file, and a blank witness.
func AppendID(dst []byte, id string) []byte {
	dst = pad(fmt.Appendf(dst, `{"id":"%s"}`, id), len(dst), IDSize)
	return AppendBlank(dst)
}

// AppendBlank appends a witness that says nothing.
func AppendBlank(dst []byte) []byte { return pad(dst, len(dst), Size) }

// seal ends the line that begins at start with its sum.
func seal(dst []byte, start, size int) []byte {
	at := len(dst)
	dst = pad(append(append(dst, noSum...), `"}`...), start, size)
	sum := sha256.Sum256(dst[start : len(dst)-1])
	hex.Encode(dst[at:at+len(noSum)], sum[:])
	return dst
}

// pad fills the line that begins at start.
func pad(dst []byte, start, size int) []byte {
	for len(dst)-start < size-1 {
		dst = append(dst, ' ')
	}
	return append(dst, '\n')
}

// sealed returns the line without its sum if the sum is right.
func sealed(line []byte) (text []byte, ok bool) {
	line, whole := bytes.CutSuffix(line, []byte("\n"))
	text, rest, found := bytes.Cut(line, []byte(`","sum":"`))
	if !whole || !found || len(rest) < len(noSum) {
		return nil, false
	}
	var digits [2 * sha256.Size]byte
	h := sha256.New()
	h.Write(line[:len(line)-len(rest)])
	h.Write(noSum)
	h.Write(rest[len(noSum):])
	var sum [sha256.Size]byte
	hex.Encode(digits[:], h.Sum(sum[:0]))
	return text, bytes.Equal(digits[:], rest[:len(noSum)])
}

// Parse returns the witness of a line, or the zero Witness.
func Parse(line []byte) (w Witness) {
	text, ok := sealed(line)
	if !ok {
		return w
	}
	text, begins := bytes.CutPrefix(text, []byte(`{"published":"`))
	published, text, two := bytes.Cut(text, []byte(`","durable":"`))
	durable, boot, three := bytes.Cut(text, []byte(`","boot":"`))
	if !begins || !two || !three || w.Published.UnmarshalText(published) != nil || w.Durable.UnmarshalText(durable) != nil {
		return Witness{}
	}
	w.Boot = string(boot)
	return w
}

// ParseClaim returns the nonce of the claim in a line, or "".
func ParseClaim(line []byte) (nonce string) {
	text, _ := sealed(line)
	if text, ok := bytes.CutPrefix(text, []byte(`{"claim":"`)); ok && schema.ValidNonce(text) {
		return string(text)
	}
	return ""
}

// ParseID returns the id in the line of a lock file, or "".
func ParseID(line []byte) string {
	text, begins := bytes.CutPrefix(line, []byte(`{"id":"`))
	id, _, ends := bytes.Cut(text, []byte(`"}`))
	if !begins || !ends || !schema.ValidNonce(id) {
		return ""
	}
	return string(id)
}
