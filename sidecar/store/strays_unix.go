//go:build unix

package store

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"golang.org/x/sys/unix"
)

// Strays lists what killed writers left in the state, as [Store.Litter] does, and
// leaves it there. Unlike that it takes no lock that a program could want at the
// moment: it asks the kernel who has it, where the kernel tells of all.
func (d *Store) Strays(m *schema.Manifest) ([]Litter, error) {
	var all []Litter
	var errs []error
	for _, s := range d.sweeps(m) {
		found, err := d.strays(s)
		all, errs = append(all, found...), append(errs, err)
	}
	upgrades, err := d.staleUpgrades(m)
	errs = append(errs, err)
	for _, name := range upgrades {
		busy, err := d.inUse(stateLock, m.Locks[stateLock])
		all, errs = append(all, Litter{filepath.Join(metaName, name), busy}), append(errs, err)
	}
	for _, sweep := range []func(*schema.Manifest, bool) ([]Litter, error){d.litterAlone, d.litterFolders} {
		found, err := sweep(m, true)
		all, errs = append(all, found...), append(errs, err)
	}
	return all, errors.Join(errs...)
}

// Locked reports whether somebody has, or may have, the lock by which owner's
// commits take turns. As [Store.Strays] does, it asks the kernel. It returns an
// error that wraps [ErrLock] if the lock is lost, so that nobody gets it.
func (d *Store) Locked(m *schema.Manifest, owner string) (bool, error) {
	l, err := d.OpenLock(OwnerLock(owner), m.Locks[OwnerLock(owner)])
	if err != nil {
		return false, err
	}
	defer l.file.Close()
	return l.taken()
}

// strays lists what writers of one file staged. A name that is there before and
// after a moment at which nobody had the lock was there at that moment: its
// writer is gone, since no name is used twice.
func (d *Store) strays(s swept) ([]Litter, error) {
	before, err := s.in.staged(s.target)
	if err != nil || len(before) == 0 {
		return nil, err
	}
	busy, err := d.inUse(s.lock, s.ino)
	if err != nil {
		return nil, err
	}
	after, err := s.in.staged(s.target)
	var found []Litter
	for _, name := range after {
		if slices.Contains(before, name) {
			at, _ := filepath.Rel(d.path, filepath.Join(s.in.path, name))
			found = append(found, Litter{at, busy})
		}
	}
	return found, err
}

// inUse reports whether somebody has, or may have, the lock.
func (d *Store) inUse(name string, ino uint64) (bool, error) {
	l, err := d.OpenLock(name, ino)
	if errors.Is(err, ErrLock) { // then nobody can get it
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer l.file.Close()
	return l.taken()
}

// staleUpgrades lists the directories of upgrades that never took effect, or
// are finished.
func (d *Store) staleUpgrades(m *schema.Manifest) (stale []string, err error) {
	names, err := d.meta.names()
	for _, name := range names {
		nonce, ok := nonceAfter(upgradePrefix, name)
		if ok && (m.Pending == nil || m.Pending.ID != nonce) {
			stale = append(stale, name)
		}
	}
	slices.Sort(stale)
	return stale, err
}

// litterUpgrades removes the directories of upgrades that were killed before
// they took effect, or after all was done.
func (d *Store) litterUpgrades(m *schema.Manifest, look bool) ([]Litter, error) {
	stale, err := d.staleUpgrades(m)
	if err != nil || len(stale) == 0 {
		return nil, err
	}
	l, err := d.OpenLock(stateLock, m.Locks[stateLock])
	if err != nil {
		return nil, err
	}
	defer l.Close()
	free, err := l.Try()
	if err != nil {
		return nil, err
	}
	if free { // what was read before does not count
		if m, err = d.Manifest(); err != nil {
			return nil, err
		}
		if stale, err = d.staleUpgrades(m); err != nil {
			return nil, err
		}
	}
	var found []Litter
	for _, name := range stale {
		found = append(found, Litter{filepath.Join(metaName, name), !free})
		if free && !look {
			if err := d.meta.root.RemoveAll(name); err != nil {
				return found, d.meta.located(err)
			}
		}
	}
	return found, nil
}

// litterAlone removes what killed processes staged that held no lock of the
// state: claims, pending patches, and what was rejected. Each has a lock of
// its own, see [folder.openStaged].
func (d *Store) litterAlone(m *schema.Manifest, look bool) ([]Litter, error) {
	names := append(pendingNames(&m.Declaration), quarantineName)
	for owner := range m.Claims {
		names = append(names, filepath.Join(claimsName, owner))
	}
	slices.Sort(names)
	var all []Litter
	var errs []error
	for _, name := range names {
		f, err := openFolder(filepath.Join(d.meta.path, name))
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrUnsafe) || errors.Is(err, unix.ENOTDIR) {
			continue // what is none of Freehold's directories has nothing of it inside
		}
		if err == nil {
			var found []Litter
			found, err = f.litterAlone(filepath.Join(metaName, name), look)
			all = append(all, found...)
			f.close()
		}
		errs = append(errs, err)
	}
	return all, errors.Join(errs...)
}

func (f *folder) litterAlone(prefix string, look bool) ([]Litter, error) {
	names, err := f.names()
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	var all []Litter
	for _, name := range names {
		if !stagedAlone(name) {
			continue
		}
		there, busy, err := f.removeStaged(name, look)
		if err != nil {
			return all, err
		}
		if there {
			all = append(all, Litter{filepath.Join(prefix, name), busy})
		}
	}
	return all, nil
}

// removeStaged removes what [folder.openStaged] made, unless its maker lives,
// and reports whether it was there.
func (f *folder) removeStaged(name string, look bool) (there, busy bool, err error) {
	fd, err := f.openRegular(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, false, nil
	}
	if err != nil {
		return false, false, err
	}
	defer unix.Close(fd)
	free, err := flock(fd, unix.LOCK_EX)
	switch {
	case err != nil:
		return false, false, f.fail("flock", name, err)
	case !free || !named(fd, f.fd, name):
		var st unix.Stat_t
		return unix.Fstatat(f.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil, true, nil
	case look:
		return true, false, nil
	}
	if err := unix.Unlinkat(f.fd, name, 0); err != nil && err != unix.ENOENT {
		return true, false, f.fail("remove", name, err)
	}
	return true, false, nil
}

// stagedAlone reports whether a process that held no lock of the state could
// have staged name: a dot, what it is to be, another dot, and a nonce.
func stagedAlone(name string) bool {
	at := strings.LastIndexByte(name, '.')
	return at > 1 && name[0] == '.' && process.ValidNonce(name[at+1:])
}

// openStaged makes a new file that is to get the name later, and locks it for
// as long as it is open: what is so called and is not locked was left by a
// process that is no more. Whoever removes such a thing may come between the
// making and the locking; then there is another try.
func (f *folder) openStaged(name string) (staged string, fd int, err error) {
	for {
		staged = fmt.Sprintf(".%s.%s", name, NewNonce())
		fd, err = retry(func() (int, error) {
			return unix.Openat(f.fd, staged, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
		})
		if err != nil {
			return "", -1, f.fail("create", staged, err)
		}
		free, err := flock(fd, unix.LOCK_EX)
		if err == nil && free && named(fd, f.fd, staged) {
			return staged, fd, nil
		}
		unix.Close(fd)
		if gone := unix.Unlinkat(f.fd, staged, 0); err != nil || gone != nil && gone != unix.ENOENT {
			return "", -1, f.fail("lock", staged, errors.Join(err, gone))
		}
	}
}
