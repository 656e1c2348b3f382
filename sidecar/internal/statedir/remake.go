package statedir

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/dir"
	"github.com/freehold-dev/freehold/sidecar/internal/lock"
	"github.com/freehold-dev/freehold/sidecar/internal/status"
	"golang.org/x/sys/unix"
)

// Remake does the work of package repair.
func Remake(ctx context.Context, path string) (remade []string, err error) {
	d, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	// The lock of the directory itself keeps two repairs apart: the state's
	// own lock may be lost.
	if err := unix.Flock(d.meta.FD(), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, fault(status.Busy, d.meta.Path(), byHand("wait for it"), fmt.Errorf("another repair is under way: %w", err))
	}
	defer d.meta.Unlock() // not left to a child that is between fork and exec
	m, err := d.Manifest()
	if err != nil {
		return nil, err
	}
	if m.Instance != "" {
		if err := d.LockShared(ctx, stateWait); err != nil {
			return nil, err
		}
	}
	remade, held, err := lockIntact(d, ctx, m)
	defer func() {
		for _, l := range held {
			l.Close()
		}
	}()
	if err != nil {
		return nil, err
	}
	for _, owner := range deferring(&m.Declaration) {
		a, err := d.OpenPending(m, owner)
		if err != nil {
			remade = append(remade, OwnerPending(owner))
			continue
		}
		a.Close()
	}
	claims := lostClaims(d, m)
	several := len(m.Modules) > 1
	if len(remade)+len(claims) == 0 && !several {
		return nil, nil
	}
	for _, name := range remade { // nothing is deleted unread
		delete(m.Locks, name)
		delete(m.IDs, name)
		if _, err := d.Quarantine().MoveRecord(name); err != nil && !errors.Is(err, unix.ENOENT) {
			return nil, err
		}
	}
	for _, owner := range claims {
		delete(m.Claims, owner) // so that the present one is taken
		delete(m.IDs, claimsName+"/"+owner)
		remade = append(remade, claimsName+"/"+owner)
	}
	if several { // the next generated writer is the first one again
		m.Modules, remade = nil, append(remade, manifestName)
	}
	if err := d.WriteManifest(m); err != nil {
		return nil, err
	}
	return remade, nil
}

// lockIntact takes the locks of the manifest. It returns the names of the lost
// ones, which no process holds, and the locks that it has, also with an error.
func lockIntact(d *Dir, ctx context.Context, m *schema.Manifest) (lost []string, held []*Lock, err error) {
	for _, name := range lockNames(&m.Declaration) {
		l, err := d.OpenLock(m, name)
		if errors.Is(err, status.Lost) {
			lost = append(lost, name)
			if pid := lostHolder(d, m, name); pid != 0 {
				return nil, held, fault(status.Busy, d.meta.Join(name), byHand("stop the process first"), fmt.Errorf("process %d holds the lost lock", pid))
			}
			continue
		}
		if err != nil {
			return nil, held, err
		}
		held = append(held, l)
		if err := l.Acquire(ctx, 0); err != nil {
			return nil, held, err
		}
	}
	return lost, held, nil
}

// lostHolder returns the process that holds the lost lock file name, or 0.
func lostHolder(d *Dir, m *schema.Manifest, name string) int {
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

// holdsForAnother reports whether the open file of process pid with the inode
// of lost cannot be the lost lock file name, since inodes are used again: it is
// no plain file, a patch, a lock file of another state, or was deleted under
// another name.
func holdsForAnother(pid int, lost *unix.Stat_t, name, stateID string) bool {
	fds := fmt.Sprintf("/proc/%d/fd", pid)
	entries, err := os.ReadDir(fds)
	if err != nil {
		return false
	}
	for _, e := range entries {
		link := filepath.Join(fds, e.Name())
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
	f, err := dir.Open(path)
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

// Restore does the work of package repair. idOf returns the id of the state by its
// sidecars, or "".
func Restore(path string, declared *schema.Declaration, idOf func(*Dir) (string, error)) error {
	d, err := Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := unix.Flock(d.meta.FD(), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return fault(status.Busy, d.meta.Path(), byHand("wait for it"), fmt.Errorf("another repair is under way: %w", err))
	}
	defer d.meta.Unlock()
	switch _, err := d.Manifest(); {
	case err == nil:
		return fault(status.Exists, d.meta.Join(manifestName), byHand("use the manifest: it can be read"), nil)
	case !errors.Is(err, status.Invalid), errors.Is(err, errWholeManifest):
		return err
	}
	m := newManifest(declared, "")
	for _, name := range lockNames(declared) { // of the state as it was; no process may use it
		fd, err := d.meta.OpenRegular(name)
		if err != nil {
			continue
		}
		free, err := dir.Flock(fd, unix.LOCK_EX)
		defer unix.Close(fd)
		if err != nil || !free {
			return errors.Join(fault(status.Busy, d.meta.Join(name), byHand("stop the process that holds the lock first"), nil), err)
		}
	}
	id, err := idOf(d)
	if err != nil {
		return err
	}
	if id != "" {
		m.StateID = id
	}
	if _, err := d.Quarantine().MoveRecord(manifestName); err != nil && !errors.Is(err, unix.ENOENT) {
		return err
	}
	return d.WriteManifest(m)
}
