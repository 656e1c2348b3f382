package schema

import (
	"bytes"
	"fmt"
	"strconv"
)

const (
	// MaxEpoch is the largest epoch: the clock in microseconds reaches it in
	// the year 2112.
	MaxEpoch = 1 << 52
	// MaxRevision is the largest revision. Integers up to here are exact in
	// every JSON reader.
	MaxRevision = 1<<53 - 1
	// NonceLen is the length of a nonce in characters.
	NonceLen = 13
)

// A Version names one commit of one owner within one state. The zero value
// means no commit. Two versions are the same commit only if they are equal
// with their nonces, so compare them with ==.
type Version struct {
	// Epoch grows when an owner passes into other hands. At the beginning of
	// an epoch, it is at least the clock in microseconds.
	Epoch uint64
	// Revision counts the commits of an epoch, from 1.
	Revision uint64
	// Nonce is drawn at random for each commit and is the commit's id.
	Nonce string
}

// IsZero reports whether v names no commit.
func (v Version) IsZero() bool { return v == Version{} }

// IsPending reports whether v is the version of a pending patch: its nonce is
// the patch's id, and it is newer than every commit.
func (v Version) IsPending() bool { return v.Epoch == 0 && v.Revision == 0 && v.Nonce != "" }

// After reports whether v is newer than u, a version of the same owner in the
// same state. If neither is newer, they are equal or of two histories.
func (v Version) After(u Version) bool {
	return v.Epoch > u.Epoch || v.Epoch == u.Epoch && v.Revision > u.Revision
}

// String returns "epoch.revision.nonce", or "" for the zero version.
func (v Version) String() string {
	text, _ := v.AppendText(nil)
	return string(text)
}

// AppendText appends the text of [Version.String]. The error is always nil.
func (v Version) AppendText(dst []byte) ([]byte, error) {
	if v.IsZero() {
		return dst, nil
	}
	dst = append(strconv.AppendUint(dst, v.Epoch, 10), '.')
	dst = append(strconv.AppendUint(dst, v.Revision, 10), '.')
	return append(dst, v.Nonce...), nil
}

// MarshalText returns the text of [Version.String]. The error is always nil.
func (v Version) MarshalText() ([]byte, error) { return v.AppendText(nil) }

// UnmarshalText parses exactly the texts that [Version.String] returns.
func (v *Version) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*v = Version{}
		return nil
	}
	epoch, revision, nonce, ok := CutVersion(text)
	if !ok {
		return fmt.Errorf("version %.80q: want EPOCH.REVISION.NONCE", text)
	}
	*v = Version{epoch, revision, string(nonce)}
	return nil
}

// CutVersion returns the parts of a version's text without copying the nonce,
// and whether the text is a version.
func CutVersion(text []byte) (epoch, revision uint64, nonce []byte, ok bool) {
	first, rest, _ := bytes.Cut(text, []byte{'.'})
	second, nonce, _ := bytes.Cut(rest, []byte{'.'})
	epoch, ok1 := ParseCount(first, MaxEpoch)
	revision, ok2 := ParseCount(second, MaxRevision)
	return epoch, revision, nonce, ok1 && ok2 && ValidNonce(nonce)
}

// ParseCount parses an integer from 0 to most, at most [MaxRevision], without
// leading zeros.
func ParseCount(text []byte, most uint64) (n uint64, ok bool) {
	const longest = len("9007199254740991")
	if len(text) == 0 || len(text) > longest || text[0] == '0' && len(text) > 1 {
		return 0, false
	}
	for _, c := range text {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + uint64(c-'0')
	}
	return n, n <= most
}

// ValidNonce reports whether text is a nonce: 64 random bits in lower-case
// base32hex.
func ValidNonce[T ~string | ~[]byte](text T) bool { return len(text) == NonceLen && isBase32Hex(text) }

// isBase32Hex reports whether text has only the characters 0-9 and a-v.
func isBase32Hex[T ~string | ~[]byte](text T) bool {
	for i := range len(text) {
		if c := text[i]; (c < '0' || c > '9') && (c < 'a' || c > 'v') {
			return false
		}
	}
	return true
}
