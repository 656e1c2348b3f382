package store

import "golang.org/x/sys/unix"

// renameNew renames a file within a directory, onto nothing.
func renameNew(dir int, from, to string) error {
	err := unix.Renameat2(dir, from, dir, to, unix.RENAME_NOREPLACE)
	if err == unix.EINVAL || err == unix.ENOSYS { // not every file system has it
		return unix.Renameat(dir, from, dir, to)
	}
	return err
}
