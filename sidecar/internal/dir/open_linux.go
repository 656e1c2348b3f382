package dir

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mostMoved is how often a file may be moved away while it is opened, before
// something must be mounted there.
const mostMoved = 4

// openBelow opens path, relative to d, if none of its parts is a symbolic link
// or something that was mounted there. unix.Openat2 would
// allocate.
func (d *Dir) openBelow(path string, flags int) (int, error) {
	var name [128]byte
	if len(path) >= len(name) {
		return -1, unix.ENAMETOOLONG
	}
	copy(name[:], path)
	how := unix.OpenHow{Flags: uint64(flags), Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_XDEV | unix.RESOLVE_NO_MAGICLINKS}
	for moved := 0; ; {
		fd, _, errno := unix.Syscall6(unix.SYS_OPENAT2, uintptr(d.fd), uintptr(unsafe.Pointer(&name[0])), uintptr(unsafe.Pointer(&how)), unix.SizeofOpenHow, 0, 0)
		switch errno {
		case 0:
			return int(fd), nil
		case unix.ENOENT: // so that a missing file costs no allocation
			return -1, unix.ENOENT
		case unix.ENOSYS, unix.EPERM: // an old kernel, or a filter that does not know the call
			return openStepwise(d.fd, path, flags)
		case unix.EINTR, unix.EAGAIN: // something above was renamed meanwhile
		case unix.EXDEV: // also if the file was moved out of d meanwhile, as by an upgrade
			if moved++; moved > mostMoved {
				return -1, errno
			}
		default:
			return -1, errno
		}
	}
}

// mountOver returns path, or the nearest directory above it in the same .freehold,
// over which something is mounted, or "". A state directory, and all outside of one,
// may be on a mount.
func mountOver(path string) string {
	there := func(at ...string) bool {
		_, err := os.Lstat(filepath.Join(at...))
		return err == nil
	}
	if there(path, ".freehold") || !strings.Contains(path+"/", "/.freehold/") && !there(filepath.Dir(path), ".freehold") {
		return ""
	}
	for {
		var st unix.Statx_t
		if statx(append([]byte(path), 0), &st) == nil && st.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0 {
			return path
		}
		if filepath.Base(path) == ".freehold" || !strings.Contains(path, "/.freehold/") {
			return ""
		}
		path = filepath.Dir(path)
	}
}

// statx looks at the file that the NUL-terminated path names. unix.Statx
// would allocate, and readers call this for every view.
func statx(path []byte, st *unix.Statx_t) error { return statxAt(unix.AT_FDCWD, path, st) }

func statxAt(at int, path []byte, st *unix.Statx_t) error {
	for {
		_, _, errno := unix.Syscall6(unix.SYS_STATX, uintptr(at), uintptr(unsafe.Pointer(&path[0])),
			unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BASIC_STATS, uintptr(unsafe.Pointer(st)), 0)
		if errno == 0 {
			return nil
		}
		if errno != unix.EINTR {
			return errno
		}
	}
}

// Remember notes which directory this is, for [Dir.Unmoved]. The error wraps
// [status.Moved] if the path names another already.
func (d *Dir) Remember() error {
	d.cpath = append([]byte(d.path), 0)
	var st unix.Statx_t
	err := statx(d.cpath, &st)
	gone := err == unix.ENOENT || err == unix.ENOTDIR // an instance, removed just now
	if err != nil && !gone {
		return &fs.PathError{Op: "statx", Path: d.path, Err: err}
	}
	var held unix.Stat_t
	if err := unix.Fstat(d.fd, &held); err != nil {
		return &fs.PathError{Op: "stat", Path: d.path, Err: err}
	}
	d.dev, d.ino = unix.Mkdev(st.Dev_major, st.Dev_minor), st.Ino
	if gone || held.Ino != d.ino {
		return d.moved("it happened while it was opened", "try again")
	}
	return nil
}

// Unmoved returns an error that wraps [status.Moved] if the directory's path no
// longer names it. It allocates nothing when all is well.
func (d *Dir) Unmoved() error {
	var st unix.Statx_t
	err := statx(d.cpath, &st)
	if err == nil && st.Ino == d.ino && unix.Mkdev(st.Dev_major, st.Dev_minor) == d.dev {
		return nil
	}
	if err != nil && err != unix.ENOENT && err != unix.ENOTDIR {
		return &fs.PathError{Op: "statx", Path: d.path, Err: err}
	}
	return d.moved("", "open it again")
}

// InodeOf returns the inode number of the file at path, relative to d, or 0,
// without allocating.
func (d *Dir) InodeOf(path string) uint64 {
	var name [128]byte
	var st unix.Statx_t
	if len(path) >= len(name) || statxAt(d.fd, name[:copy(name[:], path)+1], &st) != nil {
		return 0
	}
	return st.Ino
}

// rest is how long a file must have been at rest for its [Identity] to be proof.
const rest = 20 * time.Millisecond

// IdentityOf returns the identity of the file name at the time now, or zero if it
// has none, and whether the file was at rest. It allocates nothing.
func IdentityOf(d *Dir, name string, now time.Time) (id Identity, atRest bool) {
	var path [128]byte
	var st unix.Statx_t
	if len(name) >= len(path) || statxAt(d.fd, path[:copy(path[:], name)+1], &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG ||
		st.Mask&unix.STATX_BASIC_STATS != unix.STATX_BASIC_STATS {
		return id, false
	}
	id = Identity{
		uint64(st.Dev_major)<<32 | uint64(st.Dev_minor), st.Ino, uint64(st.Nlink), st.Size,
		[2]int64{st.Mtime.Sec, int64(st.Mtime.Nsec)}, [2]int64{st.Ctime.Sec, int64(st.Ctime.Nsec)},
	}
	return id, now.Sub(time.Unix(st.Ctime.Sec, int64(st.Ctime.Nsec))) >= rest
}
