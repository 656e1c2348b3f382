package reader

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"github.com/freehold-dev/freehold/sidecar/store"
)

// snapshotID returns the id of a snapshot. An owner that never wrote and a field
// that was never claimed stay out: a reader of an older build may not know them.
func snapshotID(stateID string, owners []*owner, claims []*claim) string {
	text := make([]byte, 0, 1024)
	text = append(text, stateID...)
	for _, o := range owners {
		text = append(text, o.mark...)
	}
	for _, c := range claims {
		text = append(text, c.mark...)
	}
	id := sha256.Sum256(text)
	return hex.EncodeToString(id[:16])
}

// appendMark appends a line about o, and one about its pending patches.
func (o *owner) appendMark(dst []byte) []byte {
	dst = o.appendSidecarMark(dst)
	if o.Status == store.Regressed || o.Pending == 0 {
		return dst
	}
	dst = append(append(append(dst, '\n'), o.Name...), " pending"...)
	for _, patch := range o.stored.Patches {
		dst = append(append(dst, ' '), patch.ID...)
	}
	for _, f := range o.stored.BadPatches {
		dst = append(append(dst, ' '), f.Name...)
	}
	return dst
}

func (o *owner) appendSidecarMark(dst []byte) []byte {
	if o.Status == store.Missing {
		return dst
	}
	dst = append(append(dst, '\n'), o.Name...)
	dst = append(append(dst, ' '), o.Status...)
	dst = append(dst, ' ')
	switch o.Status {
	case store.OK, store.Regressed:
		if o.Version.IsZero() { // gone
			return dst
		}
		dst = append(strconv.AppendUint(dst, o.Version.Epoch, 10), '.')
		dst = append(strconv.AppendUint(dst, o.Version.Revision, 10), '.')
		return append(dst, o.Version.Nonce...)
	case store.Unreadable:
		return dst
	}
	return appendSum(dst, o.stored.Text())
}

// appendMark appends a line about the claim, whose file has the bytes text,
// unless there is none.
func (c *claim) appendMark(dst, text []byte) []byte {
	if c.from.Status == store.Missing {
		return dst
	}
	dst = append(append(append(append(dst, '\n'), c.once.Owner...), '/'), c.once.Field...)
	dst = append(append(append(dst, ' '), c.from.Status...), ' ')
	switch c.from.Status {
	case store.OK:
		return append(dst, c.once.ID...)
	case store.Unreadable:
		return dst
	}
	return appendSum(dst, text)
}

func appendSum(dst, text []byte) []byte {
	sum := sha256.Sum256(text)
	return hex.AppendEncode(dst, sum[:])
}
