//go:build unix

package store

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

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
// to root or to this user and is writable by its owner alone, his private group
// included, or is sticky, as /tmp is, so that others cannot rename what is ours
// in it. A symbolic link on
// the way is as good as its owner and the directories that it leads through.
func ancestors(path string) error {
	w := &way{state: path, at: "/", rest: names(path)}
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

// names returns the elements of a path.
func names(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
}

// enter takes one step. The last one leads to the state directory itself, to
// which [private] applies.
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
		return fmt.Errorf("%s: %w: %s, on the way to it, belongs to user %d, who could put another directory in its place; keep the state below directories of user %d or root",
			w.state, ErrUnsafe, next, st.Uid, euid)
	case !link && st.Mode&0o022 != 0 && st.Mode&unix.S_ISVTX == 0 && (st.Mode&0o002 != 0 || !privateGroup(etc, st.Uid, st.Gid)):
		return &WritableError{next, fmt.Errorf("%s: %w: %s, on the way to it, has mode %04o, so that others could put another directory in its place; run chmod go-w on %s, or keep the state elsewhere",
			w.state, ErrUnsafe, next, st.Mode&0o7777, next)}
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
	w.rest = append(names(target), w.rest...)
	return nil
}
