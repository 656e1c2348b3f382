//go:build unix

package statedir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/freehold-dev/freehold/schema"
	"golang.org/x/sys/unix"
)

// newPrefix begins the names of .freehold directories in the making. None can
// be an owner's file: names of owners have no dot.
const newPrefix = ".freehold-new-"

// Create makes dir, and the directories above it that are missing, a state
// directory for the declaration d. It returns an error that wraps [ErrExists]
// if it is one already. Of many processes that create one state at once,
// exactly one does; a killed one leaves nothing that another takes for a
// state.
func Create(dir string, d *schema.Declaration) error {
	path, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(filepath.Join(path, metaName)); err == nil {
		return fmt.Errorf("%s: %w", path, ErrExists)
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return err
	}
	state, err := openFolder(path)
	if err != nil {
		return err
	}
	defer state.close()
	if err := safe(state); err != nil {
		return err
	}
	return state.create(d)
}

// create prepares the whole of .freehold under another name and then renames
// it: a directory never takes the place of one that has files in it.
func (f *folder) create(d *schema.Declaration) error {
	fresh := newPrefix + NewNonce()
	if err := unix.Mkdirat(f.fd, fresh, 0o700); err != nil {
		return f.fail("mkdir", fresh, err)
	}
	err := f.fill(fresh, d)
	if err == nil {
		err = unix.Renameat(f.fd, fresh, f.fd, metaName)
	}
	if err != nil {
		f.root.RemoveAll(fresh)
		if errors.Is(err, fs.ErrExist) || errors.Is(err, unix.ENOTEMPTY) {
			return fmt.Errorf("%s: %w", f.path, ErrExists)
		}
		return err
	}
	if err := f.sync(); err != nil {
		return err
	}
	return syncParent(f.path)
}

func (f *folder) fill(name string, d *schema.Declaration) error {
	meta, err := openFolder(filepath.Join(f.path, name))
	if err != nil {
		return err
	}
	defer meta.close()
	if err := unix.Fchmod(meta.fd, 0o700); err != nil { // the umask may have taken bits away
		return meta.fail("chmod", ".", err)
	}
	m := &schema.Manifest{
		Format:      schema.ManifestFormat,
		StateID:     NewNonce() + NewNonce(),
		Locks:       map[string]uint64{},
		Declaration: *d,
	}
	return (&Dir{path: f.path, state: f, meta: meta}).writeManifest(m)
}

// syncParent makes the name of a directory that may be new durable.
func syncParent(path string) error {
	parent, err := os.Open(filepath.Dir(path))
	if err != nil {
		if errors.Is(err, fs.ErrPermission) {
			return nil // then it was not made by us either
		}
		return err
	}
	defer parent.Close()
	return parent.Sync()
}

// Find returns the nearest state directory from start upward. It returns an
// error that wraps [ErrNoState] if there is none.
func Find(start string) (string, error) {
	start, err := filepath.Abs(start)
	if err != nil {
		return "", err
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		if info, err := os.Lstat(filepath.Join(dir, metaName)); err == nil && info.IsDir() {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("%w in %s or above it: name one with --dir or FREEHOLD_DIR, or create it with `freehold state init --dir DIR`", ErrNoState, start)
		}
	}
}
