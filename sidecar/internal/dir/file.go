package dir

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"

	"github.com/freehold-dev/freehold/sidecar/internal/status"
	"github.com/google/renameio/v2"
	"golang.org/x/sys/unix"
)

var (
	// ErrIrregular is the cause if a file is no regular file or has a second
	// name.
	ErrIrregular = errors.New("not a plain file")
	// ErrTooLarge is the cause if a file is larger than it may be.
	ErrTooLarge = errors.New("file too large")
)

// ReadFile reads the file name into buf, grown if needed, and returns its
// content. Nothing is allocated if buf is large enough. A missing file is
// [fs.ErrNotExist]; a symbolic link, a file that is not regular and one with a
// second name are [ErrIrregular]; one of more than most bytes is [ErrTooLarge]
// and is not read. There is no waiting for a named pipe.
func (d *Dir) ReadFile(name string, buf []byte, most int) ([]byte, error) {
	fd, err := d.OpenRegular(name)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, d.Fail("stat", name, err)
	}
	if err := d.Plain(name, &st); err != nil {
		return nil, err
	}
	if st.Size > int64(most) {
		return nil, d.Fail("read", name, fmt.Errorf("%w: %d bytes, at most %d are allowed", ErrTooLarge, st.Size, most))
	}
	// One byte more than the file has, so that the end shows in one read.
	buf = slices.Grow(buf[:0], int(st.Size)+1)
	for {
		n, err := retry(func() (int, error) { return unix.Read(fd, buf[len(buf):cap(buf)]) })
		if err != nil {
			return nil, d.Fail("read", name, err)
		}
		buf = buf[:len(buf)+n]
		if n == 0 || len(buf) < cap(buf) {
			return buf, nil
		}
		if len(buf) > most {
			return nil, d.Fail("read", name, fmt.Errorf("%w: it grew past %d bytes", ErrTooLarge, most))
		}
		buf = slices.Grow(buf, 512)
	}
}

// Same reports whether the file name holds exactly the bytes known, which are
// those that [Dir.ReadFile] once read. It returns spare, used and grown if needed,
// and allocates nothing otherwise. Readers that look often call it: any other
// answer than true means to call ReadFile, which says why.
func (d *Dir) Same(name string, known, spare []byte) (bool, []byte) {
	fd, err := d.openBelow(name, openFlags)
	if err != nil {
		return false, spare
	}
	defer unix.Close(fd)
	// One byte more, to see that the file ends where known does.
	spare = slices.Grow(spare[:0], len(known)+1)
	n, err := unix.Read(fd, spare[:len(known)+1])
	if err != nil || n != len(known) {
		return false, spare
	}
	spare = spare[:n]
	return bytes.Equal(spare, known), spare
}

// An Identity tells one file with its content from every other. The zero value is
// that of none.
//
// A file that is replaced may leave its inode number to the next, and old kernels
// stamp by ticks of up to 10 ms. So equal identities prove that the file is the
// same only if it had been at rest for longer when it was looked at first, as git
// holds with its index.
type Identity struct {
	device, inode, links, size uint64
	written, changed           [2]int64 // seconds and nanoseconds
}

// IsZero reports whether i is the identity of no file.
func (i Identity) IsZero() bool { return i == Identity{} }

// Absent reports whether no file has the name, without allocating.
func (d *Dir) Absent(name string) bool {
	fd, err := d.openBelow(name, openFlags)
	if err == nil {
		unix.Close(fd)
	}
	return err == unix.ENOENT
}

const openFlags = unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC | unix.O_NOCTTY

// OpenRegular opens the file name for reading, without following a link and
// without waiting for a pipe's other end. The caller checks the descriptor with
// [Dir.Plain], and closes it.
func (d *Dir) OpenRegular(name string) (int, error) {
	fd, err := d.openBelow(name, openFlags)
	if err != nil {
		return -1, openError(d, unix.S_IFREG, name, err)
	}
	return fd, nil
}

// An Access is the purpose for which a file is opened.
type Access int

// The purposes.
const (
	Readable Access = unix.O_RDONLY
	Writable Access = unix.O_RDWR // in place
)

// OpenFor is [Dir.OpenRegular] for another purpose.
func OpenFor(d *Dir, name string, how Access) (int, error) {
	fd, err := d.openBelow(name, openFlags&^unix.O_ACCMODE|int(how))
	if err != nil {
		return -1, openError(d, unix.S_IFREG, name, err)
	}
	return fd, nil
}

// Plain returns an error that wraps [ErrIrregular] unless st is of one file
// with one name: a hard link could be another owner's file, or any other of
// this user's. A file without a name was replaced since it was opened, as every
// commit does, and still is whole.
func (d *Dir) Plain(name string, st *unix.Stat_t) error {
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return d.Fail("open", name, fmt.Errorf("%w: it is a %s", ErrIrregular, TypeName(uint32(st.Mode))))
	}
	if st.Nlink > 1 {
		return d.Fail("open", name, fmt.Errorf("%w: it has %d names (hard links)", ErrIrregular, st.Nlink))
	}
	return nil
}

// openError returns the error of opening name, which should be of the kind want,
// with the kind of the file that stands there instead.
func openError(d *Dir, want uint32, name string, err error) error {
	if err == unix.EXDEV {
		return status.With(d.Fail("open", name, fmt.Errorf("%w: something is mounted there", ErrIrregular)), Unmount(d.Join(name), status.Remedy{Note: "remove the mount"}))
	}
	var st unix.Stat_t
	if unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil {
		if kind := uint32(st.Mode) & unix.S_IFMT; kind != want {
			instead := ""
			if want == unix.S_IFDIR {
				instead = " and should be a directory of Freehold's"
			}
			return d.Fail("open", name, fmt.Errorf("%w: it is a %s%s", ErrIrregular, TypeName(uint32(st.Mode)), instead))
		}
	}
	return d.Fail("open", name, err)
}

// Mounted reports whether something is mounted over path in a state.
func Mounted(path string) bool { return mountOver(path) == path }

// Unmount returns the remedy that removes a mount over path, or over a directory
// of Freehold's above path, and otherwise if there is none. Such a file can be
// neither moved nor replaced.
func Unmount(path string, otherwise status.Remedy) status.Remedy {
	at := mountOver(path)
	switch {
	case at == "":
		return otherwise
	case os.Getuid() == 0: // perhaps with the effective user of a state
		return status.Remedy{Tool: []string{"umount", "--", at}}
	}
	return status.Remedy{Note: "have root remove the mount at " + at}
}

// TypeName returns the type of a file in words, by its mode.
func TypeName(mode uint32) string {
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

// Names lists the directory, unsorted.
func (d *Dir) Names() ([]string, error) { return d.NamesUpTo(math.MaxInt) }

// NamesUpTo is [Dir.Names], and stops soon after more than most names.
func (d *Dir) NamesUpTo(most int) ([]string, error) {
	fd, err := retry(func() (int, error) {
		return unix.Openat(d.fd, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return nil, d.Fail("open", ".", err)
	}
	defer unix.Close(fd)
	var names []string
	for buf := make([]byte, 8<<10); ; {
		n, err := retry(func() (int, error) { return unix.ReadDirent(fd, buf) })
		if err != nil {
			return nil, d.Fail("list", ".", err)
		}
		if n == 0 {
			return names, nil
		}
		if _, _, names = unix.ParseDirent(buf[:n], -1, names); len(names) > most {
			return names, nil
		}
	}
}

// Mkdir makes the directory name, for this user alone under any umask.
func (d *Dir) Mkdir(name string) error {
	if err := unix.Mkdirat(d.fd, name, 0o700); err != nil {
		return d.Fail("mkdir", name, err)
	}
	// No other user's link can stand here: the directory around it is this
	// user's alone.
	if err := unix.Fchmodat(d.fd, name, 0o700, 0); err != nil {
		return d.Fail("chmod", name, err)
	}
	return nil
}

// WriteFile makes raw the content of the file name, whole and durable, with the
// mode 0600. [Dir.Sync] makes the name survive power loss.
func (d *Dir) WriteFile(name string, raw []byte) error {
	return d.Located(renameio.WriteFile(name, raw, 0o600, renameio.WithRoot(d.root), renameio.WithStaticPermissions(0o600)))
}

// An Existing is the mode and group of a file that is about to be replaced.
type Existing struct {
	Mode fs.FileMode // permission bits
	GID  int
}

// Existing looks at the file name, which a commit is about to replace. The error
// is [fs.ErrNotExist] if there is none, [ErrIrregular] if that is not one plain
// file, so that a rename never takes the place of a link or a pipe, and
// [status.Unsafe] if another user owns the file and would lose it.
func (d *Dir) Existing(name string) (Existing, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return Existing{}, d.Fail("stat", name, err)
	}
	if err := d.Plain(name, &st); err != nil {
		return Existing{}, err
	}
	if euid := os.Geteuid(); int(st.Uid) != euid {
		return Existing{}, unsafeError(d.Join(name), status.Remedy{Note: fmt.Sprintf("give the file to user %d with chown", euid)},
			"it belongs to user %d and this process runs as user %d", st.Uid, euid)
	}
	return Existing{Mode: fs.FileMode(st.Mode & 0o777), GID: int(st.Gid)}, nil
}
