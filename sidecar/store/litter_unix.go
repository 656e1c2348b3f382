//go:build unix

package store

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"golang.org/x/sys/unix"
)

// Leftovers lists what processes that made or removed a state in the directory
// dir may have left there, or still work on: [RemoveLeftover] tells.
func Leftovers(dir string) ([]string, error) {
	f, err := openOwn(dir)
	if err != nil {
		return nil, err
	}
	defer f.close()
	return f.leftovers()
}

func (f *folder) leftovers() ([]string, error) {
	names, err := f.names()
	slices.Sort(names)
	return slices.DeleteFunc(names, func(name string) bool { return !leftover(name) }), err
}

// leftover reports whether a directory in the making, or one that is being
// removed, could have the name.
func leftover(name string) bool {
	_, unborn := nonceAfter(newPrefix, name)
	_, gone := nonceAfter(gonePrefix, name)
	return unborn || gone
}

// nonceAfter returns the nonce that follows prefix in a name that Freehold made
// of the two.
func nonceAfter(prefix, name string) (nonce string, ok bool) {
	nonce, ok = strings.CutPrefix(name, prefix)
	return nonce, ok && process.ValidNonce(nonce)
}

// RemoveLeftover removes one of the [Leftovers] and reports whether it did. It
// leaves alone what a live process is making; with look set it removes nothing
// and reports whether it would.
func RemoveLeftover(dir, name string, look bool) (bool, error) {
	f, err := openOwn(dir)
	if err != nil {
		return false, err
	}
	defer f.close()
	return f.removeLeftover(name, look)
}

func (f *folder) removeLeftover(name string, look bool) (bool, error) {
	made, err := openFolder(filepath.Join(f.path, name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil // somebody else was faster, or it was finished
	}
	if err != nil {
		return false, err
	}
	defer made.close()
	if err := private(made); err != nil {
		return false, err
	}
	// Who removes an instance holds it too, and need not be alive.
	if free, err := made.lock(unix.LOCK_EX); err != nil || !free || !made.named() {
		return false, err
	}
	defer unix.Flock(made.fd, unix.LOCK_UN)
	if look {
		return true, nil
	}
	return true, f.located(f.root.RemoveAll(name))
}

func openOwn(dir string) (*folder, error) {
	path, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	return openSafe(path)
}

// Litter lists what killed writers left in the state, and removes it unless
// look is set. It takes each owner's lock for that, without waiting, so that it
// never takes anything from a writer that lives.
func (d *Store) Litter(m *schema.Manifest, look bool) ([]Litter, error) {
	var all []Litter
	var errs []error
	for _, s := range d.sweeps(m) {
		found, err := d.sweep(s, look)
		all, errs = append(all, found...), append(errs, err)
	}
	for _, sweep := range []func(*schema.Manifest, bool) ([]Litter, error){d.litterUpgrades, d.litterAlone, d.litterFolders} {
		found, err := sweep(m, look)
		all, errs = append(all, found...), append(errs, err)
	}
	return all, errors.Join(errs...)
}

// litterFolders removes the directories in the making, or being removed, that
// nobody works on any more.
func (d *Store) litterFolders(_ *schema.Manifest, look bool) (all []Litter, err error) {
	names, err := d.state.leftovers()
	for _, name := range names {
		removed, failed := d.state.removeLeftover(name, look)
		all, err = append(all, Litter{name, !removed}), errors.Join(err, failed)
	}
	return all, err
}

// A swept is a file whose writers hold a lock, and stage it in the same
// directory.
type swept struct {
	in     *folder
	lock   string
	ino    uint64 // of the lock
	target string
}

func (d *Store) sweeps(m *schema.Manifest) []swept {
	all := []swept{{d.meta, stateLock, m.Locks[stateLock], manifestName}}
	add := func(f *folder, lock, target string) { all = append(all, swept{f, lock, m.Locks[lock], target}) }
	for _, owner := range m.Declaration.OwnerNames() {
		add(d.state, OwnerLock(owner), Sidecar(owner))
		if m.Declaration.Owners[owner].EffectiveMode() == schema.Exclusive {
			add(d.meta, OwnerLease(owner), OwnerRecord(owner))
		}
	}
	return all
}

// sweep removes what killed writers of a file left, which they wrote while they
// held the lock.
func (d *Store) sweep(s swept, look bool) ([]Litter, error) {
	names, err := s.in.staged(s.target)
	if err != nil || len(names) == 0 {
		return nil, err
	}
	l, err := d.OpenLock(s.lock, s.ino)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	free, err := l.Try()
	if err != nil {
		return nil, err
	}
	if names, err = s.in.staged(s.target); err != nil { // those of before the lock do not count
		return nil, err
	}
	var found []Litter
	for _, name := range names {
		at, _ := filepath.Rel(d.path, filepath.Join(s.in.path, name))
		found = append(found, Litter{at, !free})
		if !free || look {
			continue
		}
		if err := s.in.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return found, s.in.located(err)
		}
	}
	return found, nil
}
