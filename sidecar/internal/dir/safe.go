package dir

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/freehold-dev/freehold/sidecar/internal/status"
	"golang.org/x/sys/unix"
)

// OpenSafe opens the directory path. It returns an error that wraps
// [status.Unsafe] if another user could put files in the place of its own, or
// another directory in the place of it, or if its file system cannot carry
// locks. The superuser is no exception: its files would lock out the
// directory's owner.
func OpenSafe(path string) (*Dir, error) {
	d, err := Open(path)
	if err != nil {
		return nil, err
	}
	if err = d.Private(); err == nil {
		err = ancestors(path)
	}
	if err == nil {
		err = localFileSystem(d)
	}
	if err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// Private returns an error that wraps [status.Unsafe] if the directory belongs
// to another user, or if another may write in it.
func (d *Dir) Private() error { return Private(d.fd, d.path) }

// Private is [Dir.Private] for the open directory fd, which is at path.
func Private(fd int, path string) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	if euid := os.Geteuid(); int(st.Uid) != euid {
		return unsafeError(path, ownership(int(st.Uid), euid), "it belongs to user %d and this process runs as user %d", st.Uid, euid)
	}
	if st.Mode&0o022 != 0 {
		return unsafeError(path, closed(path), "mode %04o lets others write in it", st.Mode&0o7777)
	}
	return nil
}

// ownership returns the remedy of a directory of user uid for a process of user
// euid.
func ownership(uid, euid int) status.Remedy {
	if uid == 0 {
		return status.Remedy{Note: "give the directory and its files to user " + strconv.Itoa(euid) + " with chown -R"}
	}
	return status.Remedy{Note: "run it as user " + strconv.Itoa(uid)}
}

// closed returns the remedy of a directory in which others may write.
func closed(path string) status.Remedy {
	return status.Remedy{Tool: []string{"chmod", "go-w", path}}
}

// mostLinks is how many symbolic links the kernel follows in one path.
const mostLinks = 40

// A way is the walk from the root to a state directory, link by link, as the
// kernel takes it.
type way struct {
	state string   // the state directory, for messages
	at    string   // a directory without links in its path
	rest  []string // the names still to go
	links int
}

// ancestors refuses a state directory above which another user could put
// another directory in the place of ours: every directory on the way belongs
// to root or to this user and is writable by its owner alone, the owner's
// private group included, or is sticky, as /tmp is, so that others cannot rename
// our files in it. A symbolic link on the way is as good as its owner and the
// directories that it leads through.
func ancestors(path string) error {
	w := &way{state: path, at: "/", rest: elements(path)}
	if err := w.enter("/"); err != nil {
		return err
	}
	for len(w.rest) > 0 {
		name := w.rest[0]
		w.rest = w.rest[1:]
		if name == ".." { // in a link's target
			w.at = filepath.Dir(w.at)
			continue
		}
		if err := w.enter(filepath.Join(w.at, name)); err != nil {
			return err
		}
	}
	return nil
}

// elements returns the elements of a path.
func elements(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
}

// enter takes one step. The last one leads to the state directory itself, to
// which [Dir.Private] applies.
func (w *way) enter(next string) error {
	var st unix.Stat_t
	if _, err := retry(func() (int, error) { return 0, unix.Lstat(next, &st) }); err != nil {
		return &fs.PathError{Op: "lstat", Path: next, Err: err}
	}
	link := st.Mode&unix.S_IFMT == unix.S_IFLNK
	switch euid := os.Geteuid(); {
	case len(w.rest) == 0 && next != "/":
		return nil
	case st.Uid != 0 && int(st.Uid) != euid && !unmapped(st.Uid):
		return unsafeError(w.state, status.Remedy{Note: "keep the state below directories of user " + strconv.Itoa(euid) + " or root"},
			"%s, on the way to it, belongs to user %d and could be replaced by that user", next, st.Uid)
	case !link && st.Mode&0o022 != 0 && st.Mode&unix.S_ISVTX == 0 && (st.Mode&0o002 != 0 || !privateGroup(etc, st.Uid, st.Gid)):
		return unsafeError(w.state, closed(next).Or("keep the state elsewhere"),
			"%s, on the way to it, has mode %04o, so that others could put another directory in its place", next, st.Mode&0o7777)
	}
	if link {
		return w.follow(next)
	}
	w.at = next
	return nil
}

func (w *way) follow(link string) error {
	if w.links++; w.links > mostLinks {
		return &fs.PathError{Op: "open", Path: w.state, Err: unix.ELOOP}
	}
	target, err := os.Readlink(link)
	if err != nil {
		return err
	}
	if filepath.IsAbs(target) {
		w.at = "/"
	}
	w.rest = append(elements(target), w.rest...)
	return nil
}

// etc is where a system keeps its users and groups.
const etc = "/etc"

// mostAccounts bounds the bytes that are read of such a file.
const mostAccounts = 4 << 20

// privateGroup reports whether the group gid is the private one of the user
// uid, of which no other user is a member. Where each user has such a group, it may write
// by default (umask 002), and a home's directories would otherwise all be
// refused. It counts as private if the files in dir say that the user's own
// group has the user's name, no other member, and is nobody else's own group.
// Other sources than these files are not asked, since that takes a program or
// cgo: a user that is in no file has no private group here.
func privateGroup(dir string, uid, gid uint32) bool {
	name, owners := "", 0
	for fields := range accounts(filepath.Join(dir, "passwd"), 4) {
		own := fields[3] == strconv.FormatUint(uint64(gid), 10)
		if own {
			owners++
		}
		if own && fields[2] == strconv.FormatUint(uint64(uid), 10) {
			name = fields[0]
		}
	}
	if name == "" || owners != 1 {
		return false
	}
	groups := 0
	for fields := range accounts(filepath.Join(dir, "group"), 4) {
		if fields[2] != strconv.FormatUint(uint64(gid), 10) {
			continue
		}
		groups++
		others := slices.DeleteFunc(strings.Split(fields[3], ","), func(member string) bool { return member == "" || member == name })
		if fields[0] != name || len(others) > 0 {
			return false
		}
	}
	return groups == 1
}

// accounts yields the lines of a file of users or groups that have at least n
// fields. One that is unreadable or too large has none.
func accounts(path string, n int) func(yield func(fields []string) bool) {
	return func(yield func([]string) bool) {
		f, err := os.Open(path)
		if err != nil {
			return
		}
		defer f.Close()
		text, err := io.ReadAll(io.LimitReader(f, mostAccounts+1))
		if err != nil || len(text) > mostAccounts {
			return
		}
		for line := range strings.Lines(string(text)) {
			fields := strings.Split(strings.TrimSuffix(line, "\n"), ":")
			if len(fields) >= n && !yield(fields) {
				return
			}
		}
	}
}
