package store

import (
	"fmt"
	"strconv"

	"golang.org/x/sys/unix"
)

// draft makes a draft without a name, where the file system has such files.
func (f *folder) draft(name string, raw []byte) (*draft, error) {
	fd, err := f.openUnnamed()
	if unnamedUnsupported(err) {
		return f.draftStaged(name, raw)
	}
	if err != nil {
		return nil, f.fail("create", name, err)
	}
	return (&draft{folder: f, fd: fd, raw: raw}).fill(name)
}

// publish gives the draft a name, or returns [fs.ErrExist] if there is such a
// file; then another name may be tried.
func (d *draft) publish(name string) error {
	if d.staged != "" {
		return d.publishStaged(name)
	}
	err := d.folder.link(d.fd, name)
	if unlinkable(err) {
		staged, err := d.folder.draftStaged(name, d.raw)
		if err != nil {
			return err
		}
		unix.Close(d.fd)
		*d = *staged
		return d.publishStaged(name)
	}
	if err != nil {
		return d.folder.fail("link", name, err)
	}
	return nil
}

// unlinkable reports whether err means that a file without a name got none, since
// it cannot be named: there is neither the right to do so by its descriptor nor a
// /proc, or no right to that.
func unlinkable(err error) bool {
	return err == unix.ENOENT || err == unix.EACCES || err == unix.EPERM
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
