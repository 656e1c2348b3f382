package dir

import (
	"io/fs"
	"time"

	"golang.org/x/sys/unix"
)

// openBelow opens path, relative to d, if none of its parts is a symbolic link.
func (d *Dir) openBelow(path string, flags int) (int, error) { return openStepwise(d.fd, path, flags) }

// Remember notes which directory this is, for [Dir.Unmoved]. The error wraps
// [status.Moved] if the path names another already.
func (d *Dir) Remember() error {
	var st unix.Stat_t
	if err := unix.Fstat(d.fd, &st); err != nil {
		return &fs.PathError{Op: "stat", Path: d.path, Err: err}
	}
	d.dev, d.ino = uint64(st.Dev), st.Ino
	return d.Unmoved()
}

// Unmoved returns an error that wraps [status.Moved] if the directory's path no
// longer names it.
func (d *Dir) Unmoved() error {
	var st unix.Stat_t
	err := unix.Lstat(d.path, &st)
	if err == nil && st.Ino == d.ino && uint64(st.Dev) == d.dev {
		return nil
	}
	if err != nil && err != unix.ENOENT && err != unix.ENOTDIR {
		return &fs.PathError{Op: "lstat", Path: d.path, Err: err}
	}
	return d.moved("", "open it again")
}

// InodeOf returns the inode number of the file at path, relative to d, or 0.
func (d *Dir) InodeOf(path string) uint64 {
	var st unix.Stat_t
	if unix.Fstatat(d.fd, path, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return 0
	}
	return st.Ino
}

// Draft makes a draft of the content raw for the file name. The caller closes it.
func (d *Dir) Draft(name string, raw []byte) (*Draft, error) { return draftStaged(d, name, raw) }

// Publish gives the draft a name, or returns [fs.ErrExist] if there is such a
// file; then another name may be tried.
func (d *Draft) Publish(name string) error { return d.publishStaged(name) }

// ProbeCreate returns an error that wraps [status.Unsupported] if
// [Dir.CreateExclusive] cannot keep its promise here.
func (d *Dir) ProbeCreate() error { return probeStaged(d) }

// mountOver returns "": how this system tells of mounts was not tested.
func mountOver(string) string { return "" }

func renameNoReplace(dir int, from, to string) error {
	return unix.RenameatxNp(dir, from, dir, to, unix.RENAME_EXCL)
}

// localFileSystem returns nil: file systems cannot be told apart here, as the
// README's table of platforms says.
func localFileSystem(*Dir) error { return nil }

// FileSystem returns "unknown" likewise.
func FileSystem(string) (name string, refused bool) { return "unknown", false }

// unmapped returns false: there are no user namespaces.
func unmapped(uint32) bool { return false }

// Attributes returns nil: the systems name their own labels in ways that cannot
// be told from the attributes that a person gave a file.
func Attributes(string) []string { return nil }

// IdentityOf returns no identity: how this system stamps its files was not tested.
func IdentityOf(*Dir, string, time.Time) (Identity, bool) { return Identity{}, false }

// WriteNameless does nothing: every file has a name here.
func WriteNameless(*Dir, []byte) error { return nil }

// Fixed returns false: such attributes have other names here.
func Fixed(string) bool { return false }
