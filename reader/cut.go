package reader

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
)

// snapshotID names a cut: everything that tells one from another goes into its hash,
// and nothing that two readers could see differently. An owner that never wrote
// and a field that nobody claimed stay out, for a reader of an older build may
// not know of them.
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

// appendMark appends a line about o, whose sidecar has the bytes text.
func (o *owner) appendMark(dst, text []byte) []byte {
	if o.Status == Missing {
		return dst
	}
	dst = append(append(dst, '\n'), o.Name...)
	dst = append(append(dst, ' '), o.Status...)
	dst = append(dst, ' ')
	switch o.Status {
	case OK, Regressed:
		if o.Version.IsZero() { // gone
			return dst
		}
		dst = append(strconv.AppendUint(dst, o.Version.Epoch, 10), '.')
		dst = append(strconv.AppendUint(dst, o.Version.Revision, 10), '.')
		return append(dst, o.Version.Nonce...)
	case Unreadable:
		return dst
	}
	return appendSum(dst, text)
}

func appendSum(dst, text []byte) []byte {
	sum := sha256.Sum256(text)
	return hex.AppendEncode(dst, sum[:])
}
