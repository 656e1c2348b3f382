package process

import (
	"os"
	"path/filepath"
	"unicode/utf8"
)

// MaxProgram is the most bytes of a program's name in provenance.
const MaxProgram = 64

// ProgramName returns the name for provenance: the base name of the executable
// unless the caller gave one, cut to the width of a table.
func ProgramName(name string) string {
	if name == "" && len(os.Args) > 0 {
		name = filepath.Base(os.Args[0])
	}
	for len(name) > MaxProgram || !utf8.ValidString(name) {
		_, size := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-size]
	}
	return name
}
