package store

import (
	"fmt"
	"io/fs"
	"unsafe"

	"golang.org/x/sys/unix"
)

// statx looks at the file that the NUL-terminated path names. It calls the
// kernel itself because unix.Statx allocates, and readers call it for every
// view.
func statx(path []byte, st *unix.Statx_t) error { return statxAt(unix.AT_FDCWD, path, st) }

func statxAt(at int, path []byte, st *unix.Statx_t) error {
	for {
		_, _, errno := unix.Syscall6(unix.SYS_STATX, uintptr(at), uintptr(unsafe.Pointer(&path[0])),
			unix.AT_SYMLINK_NOFOLLOW, unix.STATX_INO, uintptr(unsafe.Pointer(st)), 0)
		if errno == 0 {
			return nil
		}
		if errno != unix.EINTR {
			return errno
		}
	}
}

func (d *Store) remember() error {
	var st unix.Statx_t
	err := statx(d.cpath, &st)
	gone := err == unix.ENOENT || err == unix.ENOTDIR // an instance, removed just now
	if err != nil && !gone {
		return &fs.PathError{Op: "statx", Path: d.path, Err: err}
	}
	var held unix.Stat_t
	if err := unix.Fstat(d.state.fd, &held); err != nil {
		return &fs.PathError{Op: "stat", Path: d.path, Err: err}
	}
	d.dev, d.ino = unix.Mkdev(st.Dev_major, st.Dev_minor), st.Ino
	if gone || held.Ino != d.ino {
		return fmt.Errorf("%s: %w while it was opened; try again", d.path, ErrReplaced)
	}
	return nil
}

// Unmoved returns an error that wraps [ErrReplaced] if the directory's path no
// longer names it. It allocates nothing when all is well.
func (d *Store) Unmoved() error {
	var st unix.Statx_t
	err := statx(d.cpath, &st)
	if err == nil && st.Ino == d.ino && unix.Mkdev(st.Dev_major, st.Dev_minor) == d.dev {
		return nil
	}
	if err != nil && err != unix.ENOENT && err != unix.ENOTDIR {
		return &fs.PathError{Op: "statx", Path: d.path, Err: err}
	}
	return fmt.Errorf("%s: %w: open it again", d.path, ErrReplaced)
}

// inodeOf returns the inode number of what path names, relative to d, or 0. It
// allocates nothing.
func (d *Store) inodeOf(path string) uint64 {
	var name [128]byte
	var st unix.Statx_t
	if len(path) >= len(name) || statxAt(d.state.fd, name[:copy(name[:], path)+1], &st) != nil {
		return 0
	}
	return st.Ino
}
