package dir

import (
	"strconv"

	"golang.org/x/sys/unix"
)

// Draft makes a draft of the content raw for the file name, without a private
// name where the file system has such files. The caller closes it.
func (d *Dir) Draft(name string, raw []byte) (*Draft, error) {
	fd, err := openUnnamed(d.fd)
	if unnamedUnsupported(err) {
		return draftStaged(d, name, raw)
	}
	if err != nil {
		return nil, d.Fail("create", name, err)
	}
	return (&Draft{dir: d, fd: fd, raw: raw}).fill(name)
}

// Publish gives the draft a name, or returns [fs.ErrExist] if there is such a
// file; then another name may be tried.
func (d *Draft) Publish(name string) error {
	if d.staged != "" {
		return d.publishStaged(name)
	}
	err := d.link(name)
	if unlinkable(err) {
		staged, err := draftStaged(d.dir, name, d.raw)
		if err != nil {
			return err
		}
		unix.Close(d.fd)
		*d = *staged
		return d.publishStaged(name)
	}
	if err != nil {
		return d.dir.Fail("link", name, err)
	}
	return nil
}

// unlinkable reports whether err means that a file without a name cannot get
// one: there is neither the right to do so by its descriptor nor a /proc, or no
// right to that.
func unlinkable(err error) bool {
	return err == unix.ENOENT || err == unix.EACCES || err == unix.EPERM
}

func openUnnamed(dir int) (int, error) {
	return retry(func() (int, error) { return unix.Openat(dir, ".", unix.O_TMPFILE|unix.O_WRONLY|unix.O_CLOEXEC, 0o600) })
}

// unnamedUnsupported reports whether the file system, or the kernel, has no
// files without a name. An old kernel takes the flag for an attempt to write
// to a directory.
func unnamedUnsupported(err error) bool {
	return err == unix.EOPNOTSUPP || err == unix.EISDIR || err == unix.EINVAL
}

// link gives the draft its name, which replaces nothing. The short way needs
// a capability on kernels before 6.10.
func (d *Draft) link(name string) error {
	err := unix.Linkat(d.fd, "", d.dir.fd, name, unix.AT_EMPTY_PATH)
	if err == unix.ENOENT {
		err = unix.Linkat(unix.AT_FDCWD, "/proc/self/fd/"+strconv.Itoa(d.fd), d.dir.fd, name, unix.AT_SYMLINK_FOLLOW)
	}
	return err
}

func renameNoReplace(dir int, from, to string) error {
	return unix.Renameat2(dir, from, dir, to, unix.RENAME_NOREPLACE)
}

// ProbeCreate returns an error that wraps [status.Unsupported] if
// [Dir.CreateExclusive] cannot keep its promise here.
func (d *Dir) ProbeCreate() error {
	fd, err := openUnnamed(d.fd)
	if err == nil {
		return unix.Close(fd)
	}
	if unnamedUnsupported(err) {
		return probeStaged(d)
	}
	return err
}

// WriteNameless writes raw into a file without a name in d, locks and syncs it, and
// lets it go. It does nothing where the file system has no such files.
func WriteNameless(d *Dir, raw []byte) error {
	fd, err := unix.Openat(d.fd, ".", unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err == unix.EOPNOTSUPP || err == unix.EISDIR || err == unix.ENOENT {
		return nil
	}
	if err == nil {
		defer unix.Close(fd)
		if _, err = unix.Write(fd, raw); err == nil {
			err = unix.Fsync(fd)
		}
		if err == nil {
			_, err = Flock(fd, unix.LOCK_EX)
		}
	}
	if err != nil {
		return d.Fail("write in", ".", err)
	}
	return nil
}
