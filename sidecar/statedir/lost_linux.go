package statedir

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/freehold-dev/freehold/schema"
	"golang.org/x/sys/unix"
)

// lostHolder returns the process that holds the lost lock file name, which may
// have no name any more, or 0.
func (d *Dir) lostHolder(m *schema.Manifest, name string) int {
	fd, err := d.meta.openRegular(manifestName)
	if err != nil {
		return 0
	}
	defer unix.Close(fd)
	manifest, err := kernelName(fd) // of the same device
	if err != nil {
		return 0
	}
	ino := m.Locks[name]
	pid := lockHolder(fmt.Sprintf("%s%d", manifest[:strings.LastIndexByte(manifest, ':')+1], ino), func(listed) bool { return true })
	if pid != 0 && holdsForAnother(pid, ino, m.StateID) {
		return 0
	}
	return pid
}

// holdsForAnother reports whether the file with the inode ino that process pid
// has open is a lock file of another state: the number of a deleted file is
// used again soon.
func holdsForAnother(pid int, ino uint64, stateID string) bool {
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	for _, e := range entries {
		link := filepath.Join(dir, e.Name())
		var st unix.Stat_t
		if unix.Stat(link, &st) != nil || st.Ino != ino {
			continue
		}
		path, err := os.Readlink(link)
		if err != nil {
			continue
		}
		if m, err := manifestIn(filepath.Dir(path)); err == nil && m.StateID != stateID && m.Locks[filepath.Base(path)] == ino {
			return true
		}
	}
	return false
}

func manifestIn(path string) (*schema.Manifest, error) {
	f, err := openFolder(path)
	if err != nil {
		return nil, err
	}
	defer f.close()
	text, err := f.readFile(manifestName, nil, schema.MaxManifest)
	if err != nil {
		return nil, err
	}
	return schema.ParseManifest(text)
}
