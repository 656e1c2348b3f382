package statedir

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/status"
	"golang.org/x/sys/unix"
)

// upgradePrefix begins the names of the directories in .freehold in which
// upgrades put sidecars before they take effect.
const upgradePrefix = "upgrade-"

// LockAll takes every lock of the state in the order of all processes:
// the state's, then for each owner its fence, its lease, and its lock. For the
// state's, and for each that commits hold, it waits as long as wait; a lease that
// is held, or a fence that is shut, is an error that wraps [status.Busy] at once. It
// returns the manifest as it stands under the locks, and a function that releases them.
func (d *Dir) LockAll(ctx context.Context, wait time.Duration) (m *schema.Manifest, release func(), err error) {
	m, unlock, err := d.lockState(ctx, wait)
	if err != nil {
		return nil, nil, err
	}
	var held []*Lock
	release = func() {
		for _, l := range slices.Backward(held) {
			l.Close()
		}
		unlock()
	}
	if held, err = d.acquireAll(ctx, m, lockNames(&m.Declaration)[1:], wait); err != nil {
		release()
		return nil, nil, err
	}
	return m, release, nil
}

// acquireAll takes locks in the order of names: one that commits hold within
// wait, a lease or a fence without waiting. It returns those that it has, also
// with an error.
func (d *Dir) acquireAll(ctx context.Context, m *schema.Manifest, names []string, wait time.Duration) (held []*Lock, err error) {
	for _, name := range names {
		l, err := d.OpenLock(name, m.Locks[name])
		if err != nil {
			return held, err
		}
		held = append(held, l)
		patience := wait
		if !strings.HasSuffix(name, commitLock) {
			patience = 0
		}
		if err := l.Acquire(ctx, patience); err != nil {
			return held, err
		}
	}
	return held, nil
}

// Stage puts files, by name, into the directory of the upgrade id, durably.
// The caller holds the state's lock. The directories of upgrades that never took
// effect are removed, and so is this one's if it fails.
func (d *Dir) Stage(id string, files map[string][]byte) error {
	if err := d.Unstage(); err != nil {
		return err
	}
	err := d.stage(id, files)
	if err != nil {
		err = errors.Join(err, d.Unstage())
	}
	return err
}

func (d *Dir) stage(id string, files map[string][]byte) error {
	name := upgradePrefix + id
	if err := d.meta.Mkdir(name); err != nil {
		return err
	}
	into, err := d.meta.openChild(name)
	if err != nil {
		return err
	}
	defer into.Close()
	for name, raw := range files {
		if err := into.WriteFile(name, raw); err != nil {
			return err
		}
	}
	if err := into.Sync(); err != nil {
		return err
	}
	return d.meta.Sync()
}

// Unstage removes the directories of all upgrades. The caller holds the state's
// lock, and none of them is pending.
func (d *Dir) Unstage() error {
	names, err := d.meta.Names()
	if err != nil {
		return err
	}
	for _, name := range names {
		if _, ok := nonceAfter(upgradePrefix, name); !ok {
			continue
		}
		if err := d.meta.Root().RemoveAll(name); err != nil {
			return d.meta.Located(err)
		}
	}
	return nil
}

// ReadStaged is [Dir.ReadFile] for a file of the upgrade id.
func (d *Dir) ReadStaged(id, name string, buf []byte, most int) ([]byte, error) {
	from, err := d.meta.openChild(upgradePrefix + id)
	if err != nil {
		return nil, err
	}
	defer from.Close()
	return from.ReadFile(name, buf, most)
}

// StagedPath returns the path of the file name of the upgrade id.
func (d *Dir) StagedPath(id, name string) string {
	return filepath.Join(d.meta.Path(), upgradePrefix+id, name)
}

// Install moves a file of the upgrade id into the state directory, where it
// takes the place of the one of that name; or, with keep, into the quarantine.
// It is no error if the file has gone there already.
func (d *Dir) Install(id, name string, keep bool) error {
	from, err := d.meta.openChild(upgradePrefix + id)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return inTheWay(err)
	}
	defer from.Close()
	if err := from.installable(name); err != nil {
		return err
	}
	to := d.state
	if keep {
		if to, err = d.openQuarantine(); err != nil {
			return err
		}
		defer to.Close()
	} else if err := d.replaceable(name); err != nil {
		return err
	}
	if err := unix.Renameat(from.FD(), name, to.FD(), name); err != nil && err != unix.ENOENT {
		return from.Fail("rename", name, err)
	}
	if err := to.Sync(); err != nil {
		return err
	}
	return from.Sync()
}

// installable refuses to put anything but a plain file in the place of a
// sidecar. If name is not there any more, all is well.
func (f *folder) installable(name string) error {
	var st unix.Stat_t
	if err := unix.Fstatat(f.FD(), name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		if err == unix.ENOENT {
			return nil
		}
		return f.Fail("stat", name, err)
	}
	return inTheWay(f.Plain(name, &st))
}

// inTheWay adds to err the remedy of a file that is not plain.
func inTheWay(err error) error {
	if errors.Is(err, ErrIrregular) {
		return status.With(err, byHand("move it away"))
	}
	return err
}

// replaceable refuses to put a file in the place of a link, a pipe, or another
// user's file.
func (d *Dir) replaceable(name string) error {
	if _, err := d.Existing(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return inTheWay(err)
	}
	return nil
}

// Drop moves the file name in the state directory to the quarantine as kept. It
// is no error if there is none any more.
func (d *Dir) Drop(name, kept string) error {
	into, err := d.openQuarantine()
	if err != nil {
		return err
	}
	defer into.Close()
	if err := unix.Renameat(d.state.FD(), name, into.FD(), kept); err != nil && err != unix.ENOENT {
		return d.state.Fail("quarantine", name, err)
	}
	if err := into.Sync(); err != nil {
		return err
	}
	return d.state.Sync()
}

// ReadRecord reads the file name in .freehold, with the errors of
// [Dir.ReadFile].
func (d *Dir) ReadRecord(name string, buf []byte, most int) ([]byte, error) {
	return d.meta.ReadFile(name, buf, most)
}

// WriteRecord replaces the file name in .freehold, whole and durably. No other
// process may be writing it: files of killed writers are removed.
func (d *Dir) WriteRecord(name string, raw []byte) error {
	if err := d.meta.collect(name); err != nil {
		return err
	}
	if err := d.meta.WriteFile(name, raw); err != nil {
		return err
	}
	return d.meta.Sync()
}

// Collect removes the staged files of killed writers of the file name in the
// state directory. No other process may be writing it.
func (d *Dir) Collect(name string) error { return d.state.collect(name) }

func (f *folder) collect(target string) error {
	names, err := f.staged(target)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := f.Root().Remove(name); errors.Is(err, unix.EBUSY) {
			continue // something is mounted over it, so no commit made it
		} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return f.Located(err)
		}
	}
	return nil
}

// staged lists the files that writers of the file target have staged, by the
// names of renameio: a dot, the name of the target, and a decimal number.
func (f *folder) staged(target string) ([]string, error) {
	names, err := f.Names()
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(names, func(name string) bool {
		if !stages(name, target) {
			return true
		}
		info, err := f.Root().Lstat(name)
		return err != nil || !info.Mode().IsRegular() // gone, or something that no commit made
	}), nil
}

// stages reports whether a writer of target could have staged name.
func stages(name, target string) bool {
	number, ok := strings.CutPrefix(name, "."+target)
	return ok && number != "" && strings.Trim(number, "0123456789") == ""
}
