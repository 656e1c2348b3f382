package adopt

import (
	"errors"
	"fmt"
	"strings"

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
func (m Misfit) Error() string { return fmt.Sprintf("%s#%s: %s", m.File, m.Pointer, m.What) }

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
