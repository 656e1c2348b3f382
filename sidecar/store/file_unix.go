//go:build unix

package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/google/renameio/v2"
	"golang.org/x/sys/unix"
)

// ReadFile reads the file name in the state directory into buf, which it
// grows if needed, and returns what it read. It allocates nothing if buf is
// large enough. A missing file is [fs.ErrNotExist]; a symbolic link, a file
// that is not regular and one with a second name are [ErrIrregular]; one of
// more than most bytes is [ErrTooLarge] and is not read. It never waits for a
// named pipe.
func (d *Store) ReadFile(name string, buf []byte, most int) ([]byte, error) {
	return d.state.readFile(name, buf, most)
}

func (f *folder) readFile(name string, buf []byte, most int) ([]byte, error) {
	fd, err := f.openRegular(name)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, f.fail("stat", name, err)
	}
	if err := f.plain(name, &st); err != nil {
		return nil, err
	}
	if st.Size > int64(most) {
		return nil, f.fail("read", name, fmt.Errorf("%w: %d bytes, at most %d are allowed", ErrTooLarge, st.Size, most))
	}
	// One byte more than the file has, so that the end shows in one read.
	buf = slices.Grow(buf[:0], int(st.Size)+1)
	for {
		n, err := retry(func() (int, error) { return unix.Read(fd, buf[len(buf):cap(buf)]) })
		if err != nil {
			return nil, f.fail("read", name, err)
		}
		buf = buf[:len(buf)+n]
		if n == 0 || len(buf) < cap(buf) {
			return buf, nil
		}
		if len(buf) > most {
			return nil, f.fail("read", name, fmt.Errorf("%w: it grew past %d bytes", ErrTooLarge, most))
		}
		buf = slices.Grow(buf, 512)
	}
}

const openFlags = unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC | unix.O_NOCTTY

// openRegular opens name for reading without following it and without waiting
// for a pipe's other end.
func (f *folder) openRegular(name string) (int, error) {
	fd, err := f.openQuietly(name)
	if err != nil {
		return -1, f.explain(name, err)
	}
	return fd, nil
}

// openQuietly is openRegular with the bare error of the system. It allocates
// nothing, because readers call it for every owner and view.
func (f *folder) openQuietly(name string) (int, error) { return f.openBelow(name, openFlags) }

// writeFile makes raw the content of the file name, whole and durable. That the
// name survives power loss, sync sees to.
func (f *folder) writeFile(name string, raw []byte) error {
	return f.located(renameio.WriteFile(name, raw, 0o600, renameio.WithRoot(f.root), renameio.WithStaticPermissions(0o600)))
}

// mkdir makes the directory name, for this user alone whatever the umask.
func (f *folder) mkdir(name string) error {
	if err := unix.Mkdirat(f.fd, name, 0o700); err != nil {
		return f.fail("mkdir", name, err)
	}
	// Nobody else's link can stand here: the directory around it is this
	// user's alone.
	if err := unix.Fchmodat(f.fd, name, 0o700, 0); err != nil {
		return f.fail("chmod", name, err)
	}
	return nil
}

// plain refuses what is not one file with one name: a hard link could be
// another owner's file, or anything else of this user's. A file without a name
// was replaced since it was opened, as every commit does, and still is whole.
func (f *folder) plain(name string, st *unix.Stat_t) error {
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return f.fail("open", name, fmt.Errorf("%w: it is a %s", ErrIrregular, typeName(uint32(st.Mode))))
	}
	if st.Nlink > 1 { // 0 is a file that was replaced since it was opened: an older version, whole
		return f.fail("open", name, fmt.Errorf("%w: it has %d names (hard links)", ErrIrregular, st.Nlink))
	}
	return nil
}

// explain says why name could not be opened in words that help.
func (f *folder) explain(name string, err error) error { return f.explainAs(unix.S_IFREG, name, err) }

// explainAs is explain for what should be of another kind than a regular file.
func (f *folder) explainAs(want uint32, name string, err error) error {
	if err == unix.EXDEV {
		return f.fail("open", name, fmt.Errorf("%w: something is mounted there: remove the mount", ErrIrregular))
	}
	var st unix.Stat_t
	if unix.Fstatat(f.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil {
		if kind := uint32(st.Mode) & unix.S_IFMT; kind != want {
			return f.fail("open", name, fmt.Errorf("%w: it is a %s%s", ErrIrregular, typeName(uint32(st.Mode)), instead[want]))
		}
	}
	return f.fail("open", name, err)
}

// instead says what a thing should be that is of another kind.
var instead = map[uint32]string{unix.S_IFDIR: " and should be a directory of Freehold's"}

// notThere reports whether the error of [folder.openBelow] means that there is
// no directory of Freehold's, whatever stands in its place.
func notThere(err error) bool {
	return slices.ContainsFunc([]error{unix.ENOENT, unix.ENOTDIR, unix.ELOOP, unix.EXDEV}, func(gone error) bool { return errors.Is(err, gone) })
}

// located is [Located] for the errors of f's root.
func (f *folder) located(err error) error { return Located(f.path, err) }

func (f *folder) fail(op, name string, err error) error {
	return &fs.PathError{Op: op, Path: filepath.Join(f.path, name), Err: err}
}

func typeName(mode uint32) string {
	switch mode & unix.S_IFMT {
	case unix.S_IFLNK:
		return "symbolic link"
	case unix.S_IFIFO:
		return "named pipe"
	case unix.S_IFDIR:
		return "directory"
	case unix.S_IFSOCK:
		return "socket"
	case unix.S_IFCHR, unix.S_IFBLK:
		return "device"
	case unix.S_IFREG:
		return "regular file"
	}
	return "file of unknown type"
}

// An Existing says what stands at a name that is about to be replaced.
type Existing struct {
	Mode fs.FileMode // permission bits
	GID  int
}

// Existing looks at the file name in the state directory, which a commit is
// about to replace. It returns [fs.ErrNotExist] if there is none,
// [ErrIrregular] if it is not one plain file, so that a rename never takes the
// place of a link or a pipe, and [ErrUnsafe] if it belongs to another user,
// from whom the rename would take it.
func (d *Store) Existing(name string) (Existing, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(d.state.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return Existing{}, d.state.fail("stat", name, err)
	}
	if err := d.state.plain(name, &st); err != nil {
		return Existing{}, err
	}
	if euid := os.Geteuid(); int(st.Uid) != euid {
		return Existing{}, d.state.fail("replace", name, fmt.Errorf("%w: it belongs to user %d and this process runs as user %d; give it back with chown, or run as user %d", ErrUnsafe, st.Uid, euid, st.Uid))
	}
	return Existing{Mode: fs.FileMode(st.Mode & 0o777), GID: int(st.Gid)}, nil
}

func (f *folder) names() ([]string, error) {
	fd, err := retry(func() (int, error) {
		return unix.Openat(f.fd, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return nil, f.fail("open", ".", err)
	}
	defer unix.Close(fd)
	var names []string
	for buf := make([]byte, 8<<10); ; {
		n, err := retry(func() (int, error) { return unix.ReadDirent(fd, buf) })
		if err != nil {
			return nil, f.fail("list", ".", err)
		}
		if n == 0 {
			return names, nil
		}
		_, _, names = unix.ParseDirent(buf[:n], -1, names)
	}
}
