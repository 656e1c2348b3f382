package inject

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Naming are the calls that give a file or a directory a name, and those that make what they did survive power loss: what [Unsynced] wants
// to have been counted.
var Naming = []string{"renameat", "renameat2", "linkat", "mkdirat", "fsync", "fdatasync"}

// Unsynced says what of a run that has ended power loss could take away again: names in a directory that was not synced afterwards, and files
// that were published under their name before what they hold was synced. Made for others to find are only names that begin with no dot.
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
			all = append(all, fmt.Sprintf("%v: what it names was not synced before", c))
		}
	}
	return all
}

// hidden tells the names of what is in the making, and files that have none yet.
func hidden(path string) bool {
	name := filepath.Base(path)
	return strings.HasPrefix(name, ".") && name != ".freehold" || strings.HasSuffix(name, " (deleted)")
}

func synced(calls []Call, path string) bool {
	return slices.ContainsFunc(calls, func(c Call) bool {
		return strings.HasSuffix(c.Name, "sync") && len(c.Paths) > 0 && c.Paths[0] == path
	})
}
