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

// Staged are the files of one upgrade, before they take effect.
type Staged struct {
	dir  *Dir
	name string // of their directory in .freehold
}

// Staged returns the files of the upgrade id.
func (d *Dir) Staged(id string) Staged { return Staged{d, upgradePrefix + id} }

// Write puts files, by name, into the directory of the upgrade, durably. It
// first removes those of upgrades that never took effect. The caller holds the
// state's lock.
func (s Staged) Write(files map[string][]byte) error {
	if err := s.dir.Unstage(); err != nil {
		return err
	}
	err := s.write(files)
	if err != nil {
		err = errors.Join(err, s.dir.Unstage())
	}
	return err
}

func (s Staged) write(files map[string][]byte) error {
	if err := s.dir.meta.Mkdir(s.name); err != nil {
		return err
	}
	into, err := s.open()
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
	return s.dir.meta.Sync()
}

func (s Staged) open() (*dir.Dir, error) { return s.dir.meta.OpenChild(s.name) }

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

// Read is [Dir.ReadFile] for a staged file.
func (s Staged) Read(name string, buf []byte, most int) ([]byte, error) {
	from, err := s.open()
	if err != nil {
		return nil, err
	}
	defer from.Close()
	return from.ReadFile(name, buf, most)
}

// Path returns the path of the staged file name.
func (s Staged) Path(name string) string { return s.dir.meta.Join(filepath.Join(s.name, name)) }

// Install moves a staged file to its place or, with keep, to the quarantine. A
// file that is there already is no error.
func (s Staged) Install(name string, keep bool) error {
	from, err := s.open()
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
	to := s.dir.state
	if keep {
		if to, err = s.dir.Quarantine().make(); err != nil {
			return err
		}
		defer to.Close()
	} else if _, err := to.Existing(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
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
