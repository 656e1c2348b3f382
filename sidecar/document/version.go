package document

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/freehold-dev/freehold/sidecar/internal/process"
)

// MaxEpoch is the largest epoch and the largest revision: the integers up to
// here are exact in every JSON reader, and one more never wraps around.
const MaxEpoch = 1<<53 - 1

// A Version names one commit of one owner within one state. Its zero value
// means no commit. Two versions are the same commit only if they are equal
// with their nonces, so compare them with ==.
type Version struct {
	// Epoch grows when a new hand takes the owner over; it is at least the
	// clock in microseconds when it began.
	Epoch uint64
	// Revision counts the commits of an epoch, from 1.
	Revision uint64
	// Nonce is drawn at random for each commit; it is the commit's id.
	Nonce string
}

// IsZero reports whether v names no commit.
func (v Version) IsZero() bool { return v == Version{} }

// IsPending reports whether v is that of no commit but of a patch that is set
// pending, whose id the nonce is. What has it is newer than every commit.
func (v Version) IsPending() bool { return v.Epoch == 0 && v.Revision == 0 && v.Nonce != "" }

// After reports whether v is newer than u, a version of the same owner in the same
// state. Where neither is, they are equal, or of two histories.
func (v Version) After(u Version) bool {
	return v.Epoch > u.Epoch || v.Epoch == u.Epoch && v.Revision > u.Revision
}

// String returns "epoch.revision.nonce", or "" for the zero version.
func (v Version) String() string {
	if v.IsZero() {
		return ""
	}
	return string(v.append(nil))
}

// MarshalText implements [encoding.TextMarshaler]; the text is that of
// [Version.String].
func (v Version) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler]. It takes exactly what
// MarshalText returns.
func (v *Version) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*v = Version{}
		return nil
	}
	parts, ok := snapshotVersion(text)
	if !ok {
		return fmt.Errorf("%.80q is no version: want EPOCH.REVISION.NONCE", text)
	}
	*v = parts.version()
	return nil
}

// versionParts is a Version whose string has not been made yet.
type versionParts struct {
	epoch, revision uint64
	nonce           []byte
}

func (p versionParts) version() Version { return Version{p.epoch, p.revision, string(p.nonce)} }

// snapshotVersion takes apart what [Version.append] writes.
func snapshotVersion(text []byte) (parts versionParts, ok bool) {
	epoch, rest, _ := bytes.Cut(text, []byte{'.'})
	revision, nonce, _ := bytes.Cut(rest, []byte{'.'})
	var ok1, ok2 bool
	parts.epoch, ok1 = parseCount(epoch)
	parts.revision, ok2 = parseCount(revision)
	parts.nonce = nonce
	return parts, ok1 && ok2 && validNonce(nonce)
}

func (v Version) append(dst []byte) []byte {
	dst = append(strconv.AppendUint(dst, v.Epoch, 10), '.')
	dst = append(strconv.AppendUint(dst, v.Revision, 10), '.')
	return append(dst, v.Nonce...)
}

// sound says why v cannot be written.
func (v Version) sound() error {
	if v.Epoch > MaxEpoch || v.Revision > MaxEpoch || !validNonce([]byte(v.Nonce)) {
		return fmt.Errorf("%d.%d.%q is no version that a sidecar can hold", v.Epoch, v.Revision, v.Nonce)
	}
	return nil
}

// parseCount reads an epoch or a revision: digits without leading zeros, at
// most [MaxEpoch].
func parseCount(text []byte) (uint64, bool) {
	if len(text) == 0 || len(text) > len("9007199254740991") || (text[0] == '0' && len(text) > 1) {
		return 0, false
	}
	var n uint64
	for _, c := range text {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + uint64(c-'0')
	}
	return n, n <= MaxEpoch
}

// validNonce is [process.ValidNonce] for bytes, without copying them.
func validNonce(text []byte) bool {
	if len(text) != process.NonceLen {
		return false
	}
	for _, c := range text {
		if (c < '0' || c > '9') && (c < 'a' || c > 'v') {
			return false
		}
	}
	return true
}
