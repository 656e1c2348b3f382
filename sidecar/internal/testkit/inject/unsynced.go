package inject

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Naming are the calls that give a file or a directory a name, and those that make names and contents survive power loss: the calls that [Unsynced] wants
// to have been counted.
var Naming = []string{"renameat", "renameat2", "linkat", "mkdirat", "fsync", "fdatasync"}

// Unsynced lists the effects of an ended run that a power loss could undo: names in a directory that was not synced afterwards, and files
// that were published under their name before their content was synced. Made for others to find are only names that begin with no dot.
func Unsynced(calls []Call) (all []string) {
	for i, c := range calls {
		if strings.HasSuffix(c.Name, "sync") || len(c.Paths) == 0 {
			continue
		}
		from, to := c.Paths[0], c.Paths[len(c.Paths)-1]
		if hidden(to) {
			continue
		}
		if !synced(calls[i+1:], filepath.Dir(to)) {
			all = append(all, fmt.Sprintf("%v: its directory is not synced afterwards", c))
		}
		if away := filepath.Dir(from); away != filepath.Dir(to) && !synced(calls[i+1:], away) {
			all = append(all, fmt.Sprintf("%v: the directory that it leaves is not synced afterwards", c))
		}
		if from != to && hidden(from) && !synced(calls[:i], from) {
			all = append(all, fmt.Sprintf("%v: the named file was not synced before", c))
		}
	}
	return all
}

// hidden reports whether a name is that of an unfinished file, or of one without a name.
func hidden(path string) bool {
	name := filepath.Base(path)
	return strings.HasPrefix(name, ".") && name != ".freehold" || strings.HasSuffix(name, " (deleted)")
}

func synced(calls []Call, path string) bool {
	return slices.ContainsFunc(calls, func(c Call) bool {
		return strings.HasSuffix(c.Name, "sync") && len(c.Paths) > 0 && c.Paths[0] == path
	})
}
