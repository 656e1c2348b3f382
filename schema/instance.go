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

// MaxInstanceID is how long the id of an instance may be, in bytes.
const MaxInstanceID = 1024

// ErrInstance is returned for text that cannot be the id of an instance.
var ErrInstance = errors.New("no id of an instance")

// InstanceDirRule is the rule for the names of instances' directories, as a
// regular expression: an id as it is, or "~" and the digest of one.
const InstanceDirRule = `^([a-z0-9][a-z0-9_-]{0,63}|~[a-z2-7]{52})$`

// String says in words what the instances are.
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
	case len(id) > MaxInstanceID:
		return fmt.Errorf("%w: %.40q… has %d bytes, and at most %d are allowed: shorten it", ErrInstance, id, len(id), MaxInstanceID)
	case !utf8.ValidString(id):
		return fmt.Errorf("%w: %.80q is not UTF-8: encode it", ErrInstance, id)
	case strings.IndexFunc(id, unicode.IsControl) >= 0:
		return fmt.Errorf("%w: %.80q has control characters: take them out", ErrInstance, id)
	}
	return nil
}

// InstanceDir returns the name of the directory in which the instance id
// lives, with the errors of [CheckInstanceID]. An id that fits the first half
// of [InstanceDirRule] is its own name. Of any other the name is a digest: it
// can be no path, no hidden file and no other id's name, also where file names
// ignore case.
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

// ValidInstanceDir reports whether name fits [InstanceDirRule].
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
