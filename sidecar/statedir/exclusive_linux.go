package statedir

import (
	"fmt"
	"strconv"

	"golang.org/x/sys/unix"
)

// createExclusive makes raw the file name, whole, unless there is one: then it returns
// [fs.ErrExist]. The file has no name until it is complete and durable, so that
// a process killed at any moment leaves the whole of it or nothing.
func (f *folder) createExclusive(name string, raw []byte) error {
	fd, err := f.openUnnamed()
	if unnamedUnsupported(err) {
		return f.createStaged(name, raw)
	}
	if err != nil {
		return f.fail("create", name, err)
	}
	defer unix.Close(fd)
	if err := f.fillFile(fd, name, raw); err != nil {
		return err
	}
	switch err := f.link(fd, name); {
	case err == unix.ENOENT: // neither the right to link a descriptor nor a /proc
		return f.createStaged(name, raw)
	case err != nil:
		return f.fail("link", name, err)
	}
	return nil
}

func (f *folder) openUnnamed() (int, error) {
	return retry(func() (int, error) { return unix.Openat(f.fd, ".", unix.O_TMPFILE|unix.O_WRONLY|unix.O_CLOEXEC, 0o600) })
}

// unnamedUnsupported reports whether the file system, or the kernel, has no
// files without a name. An old kernel takes the flag for an attempt to write
// to a directory.
func unnamedUnsupported(err error) bool {
	return err == unix.EOPNOTSUPP || err == unix.EISDIR || err == unix.EINVAL
}

// link gives the file fd its name, which replaces nothing. The short way needs
// a capability on kernels before 6.10.
func (f *folder) link(fd int, name string) error {
	err := unix.Linkat(fd, "", f.fd, name, unix.AT_EMPTY_PATH)
	if err == unix.ENOENT {
		err = unix.Linkat(unix.AT_FDCWD, "/proc/self/fd/"+strconv.Itoa(fd), f.fd, name, unix.AT_SYMLINK_FOLLOW)
	}
	return err
}

func (f *folder) renameNoReplace(from, to string) error {
	err := unix.Renameat2(f.fd, from, f.fd, to, unix.RENAME_NOREPLACE)
	if err == unix.EINVAL || err == unix.ENOSYS {
		return f.fail("rename", to, fmt.Errorf("%w: this file system cannot rename without replacing (%w), so that two processes could both win a claim: keep the state on another one", ErrUnsupported, err))
	}
	if err != nil {
		return f.fail("rename", to, err)
	}
	return nil
}

// probeCreate says whether createExclusive can keep its promise here.
func (f *folder) probeCreate() error {
	fd, err := f.openUnnamed()
	if err == nil {
		return unix.Close(fd)
	}
	if unnamedUnsupported(err) {
		return f.probeStaged()
	}
	return err
}
