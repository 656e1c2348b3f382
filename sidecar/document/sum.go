package document

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
)

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

// isSum reports whether digits could be a sum.
func isSum(digits []byte) bool {
	return len(digits) == sumDigits && len(bytes.Trim(digits, "0123456789abcdef")) == 0
}
