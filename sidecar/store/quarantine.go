package store

import (
	"fmt"
	"strconv"
	"strings"
)

const quarantineName = "quarantine"

// What the quarantine keeps of one file name.
const (
	mostRead   = 1 << 20 // bytes of a file that is read; what is larger is moved and stays
	mostKept   = 8       // files that were read
	mostBytes  = 4 << 20 // of them together
	mostUnread = 16      // other things, which are never removed
	mostNumber = 1 << 30 // no quarantine comes near; a stranger's file may
)

// A KeptFile is one in the quarantine.
type KeptFile struct {
	Path string
	// Sum is the SHA-256 of its bytes in hexadecimal digits. It is empty for
	// what is no plain file, or cannot be read, or has more than 1 MiB.
	Sum string
}

// A Quarantined says what became of a file that was moved to the quarantine, and
// what went to make room for it: a loop that quarantines must not fill the
// disk. What could not be read never goes; of it, there is a most too, beyond
// which nothing is moved.
type Quarantined struct {
	KeptFile
	// Dropped lists the files that were removed, oldest first. They were
	// read before; the same bytes as those kept do not count.
	Dropped []KeptFile
}

// unread stands for the sum of what was not read.
const unread = "unread"

// entryName is the name in the quarantine of what once was the file name.
func entryName(name string, number int, sum string) string {
	return fmt.Sprintf("%s.%06d.%s", name, number, sum)
}

// parseEntry takes the name of an entry apart.
func parseEntry(entry, name string) (number int, sum string, ok bool) {
	rest, ok := strings.CutPrefix(entry, name+".")
	if !ok {
		return 0, "", false
	}
	digits, sum, ok := strings.Cut(rest, ".")
	if !ok || sum != unread && (len(sum) != 64 || strings.Trim(sum, "0123456789abcdef") != "") {
		return 0, "", false
	}
	number, err := strconv.Atoi(digits)
	return number, sum, err == nil && number < mostNumber && entryName(name, number, sum) == entry
}
