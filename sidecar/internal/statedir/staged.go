package statedir

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/freehold-dev/freehold/sidecar/internal/dir"
	"github.com/freehold-dev/freehold/sidecar/internal/status"
	"golang.org/x/sys/unix"
)

// upgradePrefix begins the names of the directories in which upgrades stage
// sidecars.
const upgradePrefix = "upgrade-"

// Stage puts files, by name, into the directory of the upgrade id, durably. It
// first removes those of upgrades that never took effect. The caller holds the
// state's lock.
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
	into, err := d.meta.OpenChild(name)
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
// lock, and no upgrade is pending.
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
	from, err := d.meta.OpenChild(upgradePrefix + id)
	if err != nil {
		return nil, err
	}
	defer from.Close()
	return from.ReadFile(name, buf, most)
}

// StagedPath returns the path of the file name of the upgrade id.
func (d *Dir) StagedPath(id, name string) string {
	return d.meta.Join(filepath.Join(upgradePrefix+id, name))
}

// Install moves a file of the upgrade id to its place or, with keep, to the
// quarantine. A file that is there already is no error.
func (d *Dir) Install(id, name string, keep bool) error {
	from, err := d.meta.OpenChild(upgradePrefix + id)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return inTheWay(err)
	}
	defer from.Close()
	if err := installable(from, name); err != nil {
		return err
	}
	to := d.state
	if keep {
		if to, err = d.openQuarantine(); err != nil {
			return err
		}
		defer to.Close()
	} else if _, err := d.state.Existing(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return inTheWay(err)
	}
	if err := unix.Renameat(from.FD(), name, to.FD(), name); err != nil && err != unix.ENOENT {
		return from.Fail("rename", name, err)
	}
	if err := to.Sync(); err != nil {
		return err
	}
	return from.Sync()
}

// installable returns an error unless name is a plain file in f, or gone.
func installable(f *dir.Dir, name string) error {
	var st unix.Stat_t
	if err := unix.Fstatat(f.FD(), name, &st, unix.AT_SYMLINK_NOFOLLOW); err == unix.ENOENT {
		return nil
	} else if err != nil {
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

// Drop moves the file name to the quarantine as kept. A file that is gone is no
// error.
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
