package store

import (
	"bytes"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// attributes lists the extended attributes of the file path that somebody gave
// it. Those of the system's own labels every new file gets again.
func attributes(path string) (names []string) {
	buf := make([]byte, 4<<10)
	n, err := retry(func() (int, error) { return unix.Llistxattr(path, buf) })
	if err != nil {
		return nil // the file system has none, or more than anybody reads
	}
	for name := range bytes.SplitSeq(buf[:n], []byte{0}) {
		if len(name) > 0 && !strings.HasPrefix(string(name), "security.") {
			names = append(names, string(name))
		}
	}
	slices.Sort(names)
	return names
}
