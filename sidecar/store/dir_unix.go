//go:build unix

package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// A Store is an open state directory. Its methods are safe for concurrent use.
type Store struct {
	path     string
	instance string // the id that it was opened by, or empty
	cpath    []byte // path with its final NUL, so that looking at it allocates nothing
	dev, ino uint64
	state    *folder
	meta     *folder
}

// A folder is an open directory and the [os.Root] on it.
type folder struct {
	path string
	fd   int
	file *os.File // keeps fd open
	root *os.Root
}

// Open opens the state directory dir. It returns an error that wraps
// [ErrNoState] if dir is none, and [ErrUnsafe] if it belongs to another user,
// if others may write in it or could put another directory in its place, or if
// its file system cannot carry locks; dir itself may not be a symbolic link.
func Open(dir string) (*Store, error) {
	path, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	state, err := openSafe(path)
	if err != nil {
		return nil, err
	}
	meta, err := state.openChild(metaName)
	if err != nil {
		state.close()
		return nil, stateError(path, err)
	}
	if err := private(meta); err != nil {
		meta.close()
		state.close()
		return nil, err
	}
	d := &Store{path: path, cpath: append([]byte(path), 0), state: state, meta: meta}
	if err := d.remember(); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// openSafe opens a directory in which there is, or is to be, a state. The error
// wraps [ErrNoState] if it is not there.
func openSafe(path string) (*folder, error) {
	f, err := openFolder(path)
	if err != nil {
		return nil, stateError(path, err)
	}
	if err := safe(f); err != nil {
		f.close()
		return nil, stateError(path, err) // it may be gone by now
	}
	return f, nil
}

func stateError(path string, err error) error {
	if errors.Is(err, unix.ENOTDIR) {
		return fmt.Errorf("%s: %w: a file stands where a directory is to be: name another directory", path, ErrNoState)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w: create one with `freehold state init --dir %s`", path, ErrNoState, ShellWord(path))
	}
	return err
}

func openFolder(path string) (*folder, error) {
	fd, err := retry(func() (int, error) {
		return unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		if info, lerr := os.Lstat(path); lerr == nil && info.Mode()&fs.ModeSymlink != 0 {
			return nil, fmt.Errorf("%s: %w: it is a symbolic link; name the directory that it points to", path, ErrUnsafe)
		}
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return newFolder(fd, path, os.OpenRoot)
}

// openChild opens a directory of Freehold's own in f, where neither a link nor
// a mount may stand in its place.
func (f *folder) openChild(name string) (*folder, error) {
	fd, err := f.openBelow(name, openFlags|unix.O_DIRECTORY)
	if err != nil {
		return nil, f.noChild(name, err)
	}
	return newFolder(fd, filepath.Join(f.path, name), func(string) (*os.Root, error) {
		root, err := f.root.OpenRoot(name)
		return root, f.located(err)
	})
}

// noChild says what to do about the directory name that could not be opened.
func (f *folder) noChild(name string, err error) error {
	said := f.explainAs(unix.S_IFDIR, name, err)
	if err == unix.EXDEV || !errors.Is(said, ErrIrregular) {
		return said
	}
	return fmt.Errorf("%w: look at it and move it away", said)
}

// newFolder makes a folder of an open directory, and a root of it.
func newFolder(fd int, path string, openRoot func(path string) (*os.Root, error)) (f *folder, err error) {
	f = &folder{path: path, fd: fd, file: os.NewFile(uintptr(fd), path)}
	if f.root, err = openRoot(path); err == nil {
		err = f.sameAsRoot()
	}
	if err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

// sameAsRoot guards the moment between the two opens: [os.OpenRoot] has no
// O_NOFOLLOW and takes no descriptor.
func (f *folder) sameAsRoot() error {
	ours, err := f.file.Stat()
	if err != nil {
		return err
	}
	theirs, err := f.root.Stat(".")
	if err != nil {
		return f.located(err)
	}
	if !os.SameFile(ours, theirs) {
		return fmt.Errorf("%s: %w while it was opened; try again", f.path, ErrReplaced)
	}
	return nil
}

func (f *folder) close() {
	f.file.Close()
	if f.root != nil {
		f.root.Close()
	}
}

// safe refuses a directory in which somebody else could put files in the
// place of ours, or another directory in the place of it. The superuser is no exception: its files would lock out the
// directory's owner.
func safe(f *folder) error {
	if err := private(f); err != nil {
		return err
	}
	if err := ancestors(f.path); err != nil {
		return err
	}
	return localFileSystem(f)
}

// private refuses a directory of another user, or in which another may write.
func private(f *folder) error {
	var st unix.Stat_t
	if err := unix.Fstat(f.fd, &st); err != nil {
		return &fs.PathError{Op: "stat", Path: f.path, Err: err}
	}
	if euid := os.Geteuid(); int(st.Uid) != euid {
		return fmt.Errorf("%s: %w: it belongs to user %d and this process runs as user %d; run it as user %d", f.path, ErrUnsafe, st.Uid, euid, st.Uid)
	}
	if st.Mode&0o022 != 0 {
		return &WritableError{f.path, fmt.Errorf("%s: %w: mode %04o lets others write in it; run chmod go-w on it", f.path, ErrUnsafe, st.Mode&0o7777)}
	}
	return nil
}

// Close closes the directory. Files and locks that were opened through it
// stay open.
func (d *Store) Close() error {
	unix.Flock(d.state.fd, unix.LOCK_UN) // of Attend; not left to a child that is between fork and exec
	d.meta.close()
	d.state.close()
	return nil
}

// Path returns the directory's absolute path.
func (d *Store) Path() string { return d.path }

// Root returns the state directory for renameio. It follows links within the
// directory: callers check names with [Store.ReadFile] first.
func (d *Store) Root() *os.Root { return d.state.root }

// Sync makes the names in the state directory durable.
func (d *Store) Sync() error { return d.state.sync() }

// sync does not retry: after an error the kernel may have dropped what it
// could not write, and a second call would report success for it.
// See https://wiki.postgresql.org/wiki/Fsync_Errors.
func (f *folder) sync() error {
	if err := unix.Fsync(f.fd); err != nil {
		return &fs.PathError{Op: "fsync", Path: f.path, Err: err}
	}
	return nil
}

// openStepwise opens path, relative to f, one part after the other, none of
// which may be a symbolic link.
func (f *folder) openStepwise(path string, flags int) (int, error) {
	at, rest := f.fd, path
	for {
		part, more, deeper := strings.Cut(rest, "/")
		how := flags
		if deeper {
			how = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC
		}
		fd, err := retry(func() (int, error) { return unix.Openat(at, part, how|unix.O_NOFOLLOW, 0) })
		if at != f.fd {
			unix.Close(at)
		}
		if err != nil || !deeper {
			return fd, err
		}
		at, rest = fd, more
	}
}

// retry repeats a system call that a signal interrupted.
func retry[T any](call func() (T, error)) (T, error) {
	for {
		v, err := call()
		if err != unix.EINTR {
			return v, err
		}
	}
}
