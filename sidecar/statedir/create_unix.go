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
	made, err := makeAll(path)
	if err != nil {
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
	if err := state.create(d); err != nil {
		return err
	}
	for _, dir := range append(made, path) {
		if err := syncParent(dir); err != nil {
			return err
		}
	}
	return nil
}

// makeAll makes path and the directories above it that are missing, each for
// this user alone whatever the umask, and returns what it made.
func makeAll(path string) (made []string, err error) {
	if _, err := os.Stat(path); err == nil {
		return nil, nil
	}
	if made, err = makeAll(filepath.Dir(path)); err != nil {
		return made, err
	}
	if err := os.Mkdir(path, 0o700); errors.Is(err, fs.ErrExist) {
		return made, nil // somebody else did at this moment, or it is no directory, which shows later
	} else if err != nil {
		return made, err
	}
	return append(made, path), os.Chmod(path, 0o700)
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
	return f.sync()
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
