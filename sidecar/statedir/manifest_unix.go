//go:build unix

package statedir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/google/renameio/v2"
	"golang.org/x/sys/unix"
)

const (
	manifestName = "manifest.json"
	// maxManifest bounds what is read of a manifest that may be a stranger's.
	maxManifest = 4 << 20
	stateLock   = "state.lock"
	// stateWait is how long an upgrade or a repair waits for another one;
	// both take milliseconds.
	stateWait = 5 * time.Second
)

// lockNames lists the lock files of a state that is declared as d, in the
// order in which whoever needs several takes them.
func lockNames(d *schema.Declaration) []string {
	names := []string{stateLock}
	for _, owner := range d.OwnerNames() {
		if d.Owners[owner].EffectiveMode() == schema.Exclusive {
			names = append(names, OwnerFence(owner), OwnerLease(owner))
		}
		names = append(names, OwnerLock(owner))
	}
	return names
}

// asideNames lists the directories of patches set aside.
func asideNames(d *schema.Declaration) (names []string) {
	for _, owner := range d.OwnerNames() {
		if d.Owners[owner].SetsAside() {
			names = append(names, OwnerAside(owner))
		}
	}
	return names
}

// ManifestText reads the manifest's bytes into buf, growing it if needed, so
// that readers can tell cheaply whether it changed.
func (d *Dir) ManifestText(buf []byte) ([]byte, error) {
	text, err := d.meta.readFile(manifestName, buf, maxManifest)
	if errors.Is(err, fs.ErrNotExist) {
		if err := d.Unmoved(); err != nil { // removed as a whole, and nothing to restore
			return nil, err
		}
		if g, lost := d.gathering(); lost == nil {
			return nil, fmt.Errorf("%s: %w: the state %s has an instance per %s: name one with --instance ID", d.path, ErrInstances, g.State, g.By)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w: restore .freehold from a backup, or move the sidecars away and create the state anew", ErrInvalidManifest, err)
	}
	return text, nil
}

// Manifest reads the state's manifest. It returns an error that wraps
// [ErrInvalidManifest] if it cannot be read.
func (d *Dir) Manifest() (*schema.Manifest, error) {
	text, err := d.ManifestText(nil)
	if err != nil {
		return nil, err
	}
	return d.ParseManifest(text)
}

// ParseManifest is [schema.ParseManifest] with the file's name in its errors.
// It returns an error that wraps [ErrMisplaced] if the manifest is of another
// instance than the directory is for.
func (d *Dir) ParseManifest(text []byte) (*schema.Manifest, error) {
	m, err := schema.ParseManifest(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w: restore it from a backup", filepath.Join(d.meta.path, manifestName), ErrInvalidManifest, err)
	}
	return m, d.owned(m)
}

// Upgrade returns the manifest under which a program built from the
// declaration built works in this directory. If built declares more than the
// manifest, the manifest grows, under the state's lock. It returns an error
// that wraps [schema.ErrDeclaration] if the two contradict each other.
func (d *Dir) Upgrade(ctx context.Context, built *schema.Declaration) (*schema.Manifest, error) {
	m, err := d.Manifest()
	if err != nil {
		return nil, err
	}
	_, more, err := m.Declaration.Merge(built)
	if err != nil {
		return nil, d.contradiction(err)
	}
	if !more {
		return m, nil
	}
	lock, err := d.OpenLock(stateLock, m.Locks[stateLock])
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	if err := lock.Acquire(ctx, stateWait); err != nil {
		return nil, err
	}
	if m, err = d.Manifest(); err != nil { // what was read before the lock does not count
		return nil, err
	}
	merged, more, err := m.Declaration.Merge(built)
	if err != nil {
		return nil, d.contradiction(err)
	}
	if !more {
		return m, nil
	}
	// A directory that was lost is no new one: what was in it is missing.
	for _, name := range asideNames(&m.Declaration) {
		if err := d.meta.asideIntact(name); err != nil {
			return nil, (&Aside{dir: d, name: name}).lost(err)
		}
	}
	m.Declaration = *merged
	return m, d.writeManifest(m)
}

func (d *Dir) contradiction(err error) error {
	return fmt.Errorf("%s: %w: only additions take effect by themselves; keep the old declaration, or create the state anew", d.path, err)
}

// writeManifest makes the lock files and the directories that m's declaration
// needs and lacks, then replaces the manifest. The caller holds the state's lock.
func (d *Dir) writeManifest(m *schema.Manifest) error {
	for _, name := range lockNames(&m.Declaration) {
		if _, ok := m.Locks[name]; ok {
			continue
		}
		ino, err := d.meta.makeLock(name)
		if err != nil {
			return err
		}
		m.Locks[name] = ino
	}
	if err := d.makeClaims(m); err != nil {
		return err
	}
	for _, name := range asideNames(&m.Declaration) {
		if err := d.meta.makeAside(name); err != nil {
			return err
		}
	}
	text, err := m.Marshal()
	if err != nil {
		return err
	}
	if err := renameio.WriteFile(manifestName, text, 0o600, renameio.WithRoot(d.meta.root), renameio.WithStaticPermissions(0o600)); err != nil {
		return err
	}
	return d.meta.sync()
}

// makeLock makes the lock file name, or takes the one that a killed upgrade
// left: it was never in a manifest, so nobody can have locked it.
func (f *folder) makeLock(name string) (ino uint64, err error) {
	fd, err := unix.Openat(f.fd, name, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if errors.Is(err, fs.ErrExist) {
		fd, err = f.openRegular(name)
	}
	if err != nil {
		return 0, f.fail("create", name, err)
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fchmod(fd, 0o600); err != nil {
		return 0, f.fail("chmod", name, err)
	}
	if err := unix.Fstat(fd, &st); err != nil {
		return 0, f.fail("stat", name, err)
	}
	if err := f.plain(name, &st); err != nil {
		return 0, err
	}
	return st.Ino, nil
}
