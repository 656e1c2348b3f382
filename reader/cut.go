package reader

import (
	"crypto/sha256"
	"encoding/hex"
)

func sum(text []byte) [sha256.Size]byte { return sha256.Sum256(text) }

// cutID names a cut: everything that tells one from another goes into its hash,
// and nothing that two readers could see differently. An owner that never wrote
// stays out, for a reader of an older build may not know of it.
func cutID(stateID string, owners []*owner) string {
	text := make([]byte, 0, 1024)
	text = append(append(text, stateID...), '\n')
	for _, o := range owners {
		if o.Status == Missing {
			continue
		}
		text = append(append(text, o.Name...), ' ')
		text = append(append(text, o.Status...), ' ')
		if o.Status == OK {
			text = append(text, o.Version.String()...)
		} else {
			text = hex.AppendEncode(text, o.sum[:])
		}
		text = append(text, '\n')
	}
	id := sum(text)
	return hex.EncodeToString(id[:16])
}
