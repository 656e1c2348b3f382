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
	// ErrAbsent is returned by [Read] if there is no legacy file: there is
	// nothing to do.
	ErrAbsent = errors.New("there is no legacy file")
	// ErrActive is returned if somebody writes the legacy file meanwhile, so
	// that what was read of it is not what it will have said.
	ErrActive = errors.New("a legacy writer is active")
)

// A Misfit is one value of a legacy file that its field cannot hold.
type Misfit struct {
	// File is the legacy file's name.
	File string
	// Pointer says where in the file the value stands.
	Pointer jsontext.Pointer
	// What is wrong, and what to do.
	What string
}

// Error returns "FILE#POINTER: what, and what to do".
// What a terminal would obey in the file's name or in the pointer is escaped.
func (m Misfit) Error() string {
	return fmt.Sprintf("%s#%s: %s", shown(m.File), shown(m.Pointer), m.What)
}

// shown returns a text of the file's making as it may stand in a message:
// escaped if it holds what does not show.
func shown[T ~string](text T) string {
	if strings.IndexFunc(string(text), func(r rune) bool { return !unicode.IsPrint(r) }) < 0 {
		return string(text)
	}
	quoted := strconv.Quote(string(text))
	return quoted[1 : len(quoted)-1]
}

// Misfits are all of a legacy file, in the order of the file. An error of this
// type is never empty.
type Misfits []Misfit

// Error returns one line for each misfit.
func (m Misfits) Error() string {
	lines := make([]string, len(m))
	for i, misfit := range m {
		lines[i] = misfit.Error()
	}
	return strings.Join(lines, "\n")
}
