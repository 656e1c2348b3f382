package statedir

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/dir"
	"github.com/freehold-dev/freehold/sidecar/internal/status"
	"golang.org/x/sys/unix"
)

// judge tells which staged files are orphaned. A name that is there before and
// after a moment without a holder of the lock was there at that moment: its
// writer is gone, since no name is used twice.
func judge(d *Dir, m *schema.Manifest, entries []Entry) {
	busy, failed := map[string]bool{}, map[string]error{}
	for i := range entries {
		e := &entries[i]
		if !e.removable() {
			if e.Role == StagedFile { // no process stages a link, a pipe or a directory under such a name
				e.Role = Stranger
			}
			continue
		}
		if e.lock == "" {
			e.Orphaned, e.Err = withOrphan(d.state, e.Name, nil)
			continue
		}
		if _, known := busy[e.lock]; !known {
			busy[e.lock], failed[e.lock] = taken(d, m, e.lock)
			if errors.Is(failed[e.lock], status.Lost) { // no process can have it
				failed[e.lock] = nil
			}
		}
		if e.Type == "file" && !stagedIn(d, e.Name) {
			if has(d.state, e.Name) {
				e.Role = Stranger
			}
			continue
		}
		e.Err = failed[e.lock]
		e.Orphaned = e.Err == nil && !busy[e.lock] && has(d.state, e.Name)
	}
}

// stagedIn is staged for a name relative to the state.
func stagedIn(d *Dir, name string) bool {
	if base, ok := strings.CutPrefix(name, metaName+"/"); ok {
		return staged(d.meta, base)
	}
	return staged(d.state, name)
}

// removable reports whether the entry has the type that processes stage under
// its name.
func (e *Entry) removable() bool {
	want := "file"
	base := filepath.Base(e.Name)
	if _, upgrade := nonceAfter(upgradePrefix, base); upgrade || leftover(base) {
		want = "directory"
	}
	return e.Role == StagedFile && e.Type == want
}

func has(f *dir.Dir, name string) bool {
	var st unix.Stat_t
	return unix.Fstatat(f.FD(), name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil
}

// RemoveOrphan removes an orphaned entry of [Dir.Scan], under the lock of its
// writer, and reports whether it did. It does not wait.
func (d *Dir) RemoveOrphan(m *schema.Manifest, e Entry) (bool, error) {
	if e.lock == "" {
		return removeLeftover(d.state, e.Name)
	}
	l, err := d.OpenLock(m, e.lock)
	if err != nil {
		return false, err
	}
	defer l.Close()
	free, err := l.Try()
	if err != nil || !free || !has(d.state, e.Name) || e.Type == "file" && !stagedIn(d, e.Name) {
		return false, err
	}
	if m, err = d.Manifest(); err != nil { // the one from before the lock does not count
		return false, err
	}
	if m.Pending != nil && e.Name == filepath.Join(metaName, upgradePrefix+m.Pending.ID) {
		return false, nil
	}
	return true, d.state.Located(d.state.Root().RemoveAll(e.Name))
}

// Leftovers lists the directories in path in which processes make or remove a
// state.
func Leftovers(path string) ([]Entry, error) {
	f, err := openOwn(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := leftovers(f)
	var all []Entry
	for _, name := range names {
		e := Entry{Name: name, Role: StagedFile, Type: "directory"}
		if e.Orphaned, e.Err = withOrphan(f, name, nil); e.Orphaned || e.Err != nil || has(f, name) {
			all = append(all, e)
		}
	}
	return all, err
}

// RemoveLeftover removes one of the [Leftovers], unless its process lives, and
// reports whether it did.
func RemoveLeftover(path, name string) (bool, error) {
	f, err := openOwn(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	return removeLeftover(f, name)
}

func openOwn(path string) (*dir.Dir, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	return openSafe(path)
}

func leftovers(f *dir.Dir) ([]string, error) {
	names, err := f.Names()
	slices.Sort(names)
	return slices.DeleteFunc(names, func(name string) bool { return !leftover(name) }), err
}

func removeLeftover(f *dir.Dir, name string) (bool, error) {
	return withOrphan(f, name, func() error { return f.Located(f.Root().RemoveAll(name)) })
}

// leftover reports whether name is a directory in the making or being removed.
func leftover(name string) bool {
	_, unborn := nonceAfter(newPrefix, name)
	_, gone := nonceAfter(gonePrefix, name)
	return unborn || gone
}

// nonceAfter returns the nonce that follows prefix in name.
func nonceAfter(prefix, name string) (nonce string, ok bool) {
	nonce, ok = strings.CutPrefix(name, prefix)
	return nonce, ok && schema.ValidNonce(nonce)
}

// withOrphan calls work, which may be nil, under the lock of the staged file or
// directory name, and reports whether no process had the lock.
func withOrphan(f *dir.Dir, name string, work func() error) (bool, error) {
	fd, err := openOrphan(f, name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil // removed, or finished
	}
	if err != nil {
		return false, err
	}
	defer unix.Close(fd)
	free, err := dir.Flock(fd, unix.LOCK_EX)
	if err != nil {
		return false, f.Fail("flock", name, err)
	}
	if !free {
		return false, nil
	}
	defer unix.Flock(fd, unix.LOCK_UN) // not left to a child that is between fork and exec
	if is, err := f.Bears(fd, name); !is || err != nil {
		return false, nil
	}
	if work == nil {
		return true, nil
	}
	return true, work()
}

// openOrphan opens a staged file, or a directory that is private.
func openOrphan(f *dir.Dir, name string) (int, error) {
	fd, err := f.OpenRegular(name)
	if err != nil {
		return -1, err
	}
	var st unix.Stat_t
	if err = unix.Fstat(fd, &st); err == nil && st.Mode&unix.S_IFMT == unix.S_IFDIR {
		err = dir.Private(fd, f.Join(name))
	}
	if err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// stagedAlone reports whether name is staged by a process without a lock: a
// dot, the final name, a dot, and a nonce.
func stagedAlone(name string) bool {
	at := strings.LastIndexByte(name, '.')
	return at > 1 && name[0] == '.' && schema.ValidNonce(name[at+1:])
}
