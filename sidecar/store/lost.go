package store

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/lock"
	"golang.org/x/sys/unix"
)

// lostHolder returns the process that holds the lost lock file name, which may
// have no name any more, or 0.
func (d *Store) lostHolder(m *schema.Manifest, name string) int {
	fd, err := d.meta.OpenRegular(manifestName)
	if err != nil {
		return 0
	}
	defer unix.Close(fd)
	pid := lock.HolderOfInode(fd, m.Locks[name]) // of the same device
	var lost unix.Stat_t
	if pid == 0 || unix.Fstat(fd, &lost) != nil {
		return pid
	}
	if lost.Ino = m.Locks[name]; holdsForAnother(pid, &lost, name, m.StateID) {
		return 0
	}
	return pid
}

// holdsForAnother reports whether the file with the device and inode of lost
// that process pid has open cannot be the lost lock file name: the number of a
// deleted file is used again soon. It is another file if it is none, as a
// directory is; if it was deleted under another name; if it is a patch; or if it
// is a lock file of another state.
func holdsForAnother(pid int, lost *unix.Stat_t, name, stateID string) bool {
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	for _, e := range entries {
		link := filepath.Join(dir, e.Name())
		var st unix.Stat_t
		if unix.Stat(link, &st) != nil || st.Ino != lost.Ino || st.Dev != lost.Dev {
			continue
		}
		path, err := os.Readlink(link)
		if err != nil {
			continue
		}
		if st.Mode&unix.S_IFMT != unix.S_IFREG || filepath.Ext(path) == ".json" {
			return true
		}
		if at, deleted := strings.CutSuffix(path, " (deleted)"); deleted && st.Nlink == 0 && filepath.Base(at) != name {
			return true
		}
		if m, err := manifestIn(filepath.Dir(path)); err == nil && m.StateID != stateID && m.Locks[filepath.Base(path)] == lost.Ino {
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
	defer f.Close()
	text, err := f.ReadFile(manifestName, nil, schema.MaxManifest)
	if err != nil {
		return nil, err
	}
	return schema.ParseManifest(text)
}
