package schema

import (
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// NameRule is the rule for names of states, owners and fields, as a regular
// expression. A name is a file name, a JSON key and the root of a Go
// identifier on every platform at once, so it has no upper case, no dots and
// no separators.
const NameRule = `^[a-z][a-z0-9_]{0,47}$`

// ValidName reports whether s fits [NameRule].
func ValidName(s string) bool {
	if s == "" || len(s) > 48 || s[0] < 'a' || s[0] > 'z' {
		return false
	}
	for _, c := range []byte(s) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return true
}

// FoldCase maps all spellings of a name that differ only in case to one, as
// [strings.EqualFold] compares them.
func FoldCase(name string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return least
	}, name)
}

// LegacyFile is the legacy key of a map that is the legacy file itself: the
// file's keys are the map's, but for those that are another field's declared
// legacy key.
const LegacyFile = "."

// maxInstanceID is the most bytes that the id of an instance may have.
const maxInstanceID = 1024

// ErrInstance is returned for text that cannot be the id of an instance.
var ErrInstance = errors.New("no id of an instance")

// String describes the instances in words.
func (i Instances) String() string {
	if i.By == "" {
		return "no instances"
	}
	return "an instance per " + i.By
}

// CheckInstanceID returns an error that wraps [ErrInstance] and says why id
// cannot be one: it is empty, too long, no UTF-8 or has control characters.
// Two ids are one only if their bytes are: case counts, and so does the form
// in which an accented letter is written.
func CheckInstanceID(id string) error {
	switch {
	case id == "":
		return fmt.Errorf("%w: it is empty: say which instance is meant", ErrInstance)
	case len(id) > maxInstanceID:
		return fmt.Errorf("%w: %.40q… has %d bytes, and at most %d are allowed: shorten it", ErrInstance, id, len(id), maxInstanceID)
	case !utf8.ValidString(id):
		return fmt.Errorf("%w: %.80q is not UTF-8: encode it", ErrInstance, id)
	case strings.IndexFunc(id, unicode.IsControl) >= 0:
		return fmt.Errorf("%w: %.80q has control characters: take them out", ErrInstance, id)
	}
	return nil
}

// InstanceDir returns the name of the directory in which the instance id
// lives, with the errors of [CheckInstanceID]. An id of at most 64 characters
// a-z, 0-9, "_" and "-" that begins with a letter or a digit is its own name. Of
// any other the name is "~" and a digest, which can be no path, no hidden file
// and no other id's name, also where file names ignore case.
func InstanceDir(id string) (string, error) {
	if err := CheckInstanceID(id); err != nil {
		return "", err
	}
	if plainInstanceID(id) {
		return id, nil
	}
	sum := sha256.Sum256([]byte(id))
	return "~" + instanceDigest.EncodeToString(sum[:]), nil
}

// ValidInstanceDir reports whether name is one that [InstanceDir] returns.
func ValidInstanceDir(name string) bool {
	if digest, ok := strings.CutPrefix(name, "~"); ok {
		return len(digest) == instanceDigest.EncodedLen(sha256.Size) && strings.Trim(digest, digestLetters) == ""
	}
	return plainInstanceID(name)
}

const digestLetters = "abcdefghijklmnopqrstuvwxyz234567"

var instanceDigest = base32.NewEncoding(digestLetters).WithPadding(base32.NoPadding)

func plainInstanceID(id string) bool {
	if id == "" || len(id) > 64 || id[0] == '_' || id[0] == '-' {
		return false
	}
	return strings.Trim(id, "abcdefghijklmnopqrstuvwxyz0123456789_-") == ""
}
