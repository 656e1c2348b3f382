//go:build unix && !linux

package store

import (
	"fmt"
	"io/fs"

	"golang.org/x/sys/unix"
)

func (d *Store) remember() error {
	var st unix.Stat_t
	if err := unix.Fstat(d.state.fd, &st); err != nil {
		return &fs.PathError{Op: "stat", Path: d.path, Err: err}
	}
	d.dev, d.ino = uint64(st.Dev), st.Ino
	return d.Unmoved()
}

// Unmoved returns an error that wraps [ErrReplaced] if the directory's path no
// longer names it.
func (d *Store) Unmoved() error {
	var st unix.Stat_t
	err := unix.Lstat(d.path, &st)
	if err == nil && st.Ino == d.ino && uint64(st.Dev) == d.dev {
		return nil
	}
	if err != nil && err != unix.ENOENT && err != unix.ENOTDIR {
		return &fs.PathError{Op: "lstat", Path: d.path, Err: err}
	}
	return fmt.Errorf("%s: %w: open it again", d.path, ErrReplaced)
}

// inodeOf returns the inode number of what path names, relative to d, or 0.
func (d *Store) inodeOf(path string) uint64 {
	var st unix.Stat_t
	if unix.Fstatat(d.state.fd, path, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return 0
	}
	return st.Ino
}
