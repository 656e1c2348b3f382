package adopt

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"
)

var (
	// ErrAbsent is returned by [Read] if there is no legacy file.
	ErrAbsent = errors.New("there is no legacy file")
	// ErrActive is returned if the legacy file changes while it is adopted: the
	// values read are then out of date.
	ErrActive = errors.New("a legacy writer is active")
)

// A Misfit is one value of a legacy file that its field cannot hold.
type Misfit struct {
	// File is the legacy file's name.
	File string
	// Pointer to the value in the file.
	Pointer jsontext.Pointer
	// What is the problem and how to mend it.
	What string
}

// Error returns "FILE#POINTER: problem and cure", with control characters
// escaped.
func (m Misfit) Error() string {
	return fmt.Sprintf("%s#%s: %s", shown(m.File), shown(m.Pointer), m.What)
}

// shown returns text with its unprintable characters escaped.
func shown[T ~string](text T) string {
	if strings.IndexFunc(string(text), func(r rune) bool { return !unicode.IsPrint(r) }) < 0 {
		return string(text)
	}
	quoted := strconv.Quote(string(text))
	return quoted[1 : len(quoted)-1]
}

// Misfits are all misfits of a legacy file, in file order. As an error the list
// is never empty.
type Misfits []Misfit

// Error returns one line for each misfit.
func (m Misfits) Error() string {
	lines := make([]string, len(m))
	for i, misfit := range m {
		lines[i] = misfit.Error()
	}
	return strings.Join(lines, "\n")
}
