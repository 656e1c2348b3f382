package statedir

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/freehold-dev/freehold/sidecar/internal/dir"
	"github.com/freehold-dev/freehold/sidecar/internal/status"
	"golang.org/x/sys/unix"
)

// A Dir is an open state directory. Its methods are safe for concurrent use.
type Dir struct {
	instance string // the id that it was opened by, or empty
	state    *folder
	meta     *folder
}

// A folder is an open directory of a state.
type folder struct{ *dir.Dir }

// A Stamp says when names were last added to a directory or taken from it.
type Stamp = dir.Stamp

// Open opens the state directory path. It returns an error that wraps
// [status.NoState] if path is none, and [status.Unsafe] if it belongs to another user, if
// others may write in it or could put another directory in its place, or if
// its file system cannot carry locks; path itself may not be a symbolic link.
func Open(path string) (*Dir, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	state, err := openSafe(path)
	if err != nil {
		return nil, err
	}
	meta, err := state.openChild(metaName)
	if err != nil {
		state.Close()
		return nil, stateError(path, err)
	}
	d := &Dir{state: state, meta: meta}
	if err = meta.Private(); err == nil {
		err = state.Remember()
	}
	if err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// openSafe opens a directory in which there is, or is to be, a state. The error
// wraps [status.NoState] if it is not there.
func openSafe(path string) (*folder, error) {
	f, err := dir.OpenSafe(path)
	if err != nil {
		return nil, stateError(path, err)
	}
	return &folder{f}, nil
}

func stateError(path string, err error) error {
	if errors.Is(err, unix.ENOTDIR) {
		return fault(status.NoState, path, byHand("name another directory"), errors.New("a file stands where a directory is to be"))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return fault(status.NoState, path, status.By(status.Init), nil)
	}
	return err
}

func openFolder(path string) (*folder, error) { return wrap(dir.Open(path)) }

func (f *folder) openChild(name string) (*folder, error) { return wrap(f.OpenChild(name)) }

func wrap(d *dir.Dir, err error) (*folder, error) {
	if err != nil {
		return nil, err
	}
	return &folder{d}, nil
}

// Close closes the directory. Files and locks that were opened through it
// stay open.
func (d *Dir) Close() error {
	d.state.Unlock() // of LockShared
	d.meta.Close()
	d.state.Close()
	return nil
}

// Path returns the directory's absolute path.
func (d *Dir) Path() string { return d.state.Path() }

// Sync makes the names in the state directory durable.
func (d *Dir) Sync() error { return d.state.Sync() }

// Unmoved returns an error that wraps [status.Moved] if the directory's path no longer
// names it. It allocates nothing when all is well.
func (d *Dir) Unmoved() error { return d.state.Unmoved() }

// Stamp returns the state directory's stamp. It allocates nothing.
func (d *Dir) Stamp() (Stamp, error) { return d.state.Stamp() }

// ReadFile reads the file name in the state directory into buf, which it
// grows if needed, and returns its content. It allocates nothing if buf is
// large enough. A missing file is [fs.ErrNotExist]; a symbolic link, a file
// that is not regular and one with a second name are [ErrIrregular]; one of
// more than most bytes is [ErrTooLarge] and is not read. It never waits for a
// named pipe.
func (d *Dir) ReadFile(name string, buf []byte, most int) ([]byte, error) {
	return d.state.ReadFile(name, buf, most)
}

// Same reports whether the file name in the state directory holds exactly the
// bytes known, which are those that [Dir.ReadFile] once read. It uses spare,
// which it grows if needed and returns, and allocates nothing otherwise. Any
// other answer than true means to call ReadFile, which says why.
func (d *Dir) Same(name string, known, spare []byte) (bool, []byte) {
	return d.state.Same(name, known, spare)
}

// SameManifest is [Dir.Same] for the manifest and [Dir.ManifestText].
func (d *Dir) SameManifest(known, spare []byte) (bool, []byte) {
	return d.meta.Same(manifestName, known, spare)
}

// Absent reports whether nothing has the name in the state directory. It
// allocates nothing.
func (d *Dir) Absent(name string) bool { return d.state.Absent(name) }

// Existing looks at the file name in the state directory, which a commit is
// about to replace. It returns [fs.ErrNotExist] if there is none, [ErrIrregular]
// if it is not one plain file, and [status.Unsafe] if it belongs to another user.
func (d *Dir) Existing(name string) (dir.Existing, error) { return d.state.Existing(name) }

// Replace replaces the file name in the state directory by raw. An error means
// that the file is as it was. [Dir.Sync] makes the new one survive power loss.
func (d *Dir) Replace(name string, raw []byte) error { return d.state.Replace(name, raw) }

// FileSystem returns the name of the file system of path, and whether no state
// is kept on it.
func FileSystem(path string) (name string, refused bool) { return dir.FileSystem(path) }
