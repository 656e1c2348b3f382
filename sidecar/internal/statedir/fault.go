package statedir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/freehold-dev/freehold/sidecar/internal/dir"
	"github.com/freehold-dev/freehold/sidecar/internal/status"
	"golang.org/x/sys/unix"
)

var (
	// ErrIrregular is the cause if a file of the state is no regular file or
	// has a second name.
	ErrIrregular = dir.ErrIrregular
	// ErrTooLarge is the cause if a file of the state is larger than it may be.
	ErrTooLarge = dir.ErrTooLarge
	// ErrFlooded is the cause if the directory of the pending patches holds
	// more than Freehold ever puts there.
	ErrFlooded = errors.New("the directory of pending patches is flooded")
	// ErrInvalidManifest is wrapped by every error that says that the manifest
	// is missing or is not one.
	ErrInvalidManifest = errors.New("invalid manifest")
)

// fault returns an error with a status and a remedy about path.
func fault(s status.Status, path string, r status.Remedy, err error) error {
	return &status.Error{Status: s, Path: path, Remedy: r, Err: err}
}

// byHand returns the remedy that a person carries out.
func byHand(note string) status.Remedy { return status.Remedy{Note: note} }

// UseNewer is the remedy of a file that a newer release wrote.
const UseNewer = "use the release that wrote it, or a newer one"

// User returns the number of this process's user, by which the kernel opens files.
func User() int { return os.Geteuid() }

// Ours returns this user and the group of the directory of path, as chown takes
// them: with a group that is not this user's, no commit could keep the group.
func Ours(path string) string {
	gid := os.Getegid()
	if info, err := os.Stat(filepath.Dir(path)); err == nil {
		if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) == User() && mine(int(st.Gid)) {
			gid = int(st.Gid)
		}
	}
	return fmt.Sprintf("%d:%d", User(), gid)
}

// mine reports whether this process may give a file the group.
func mine(gid int) bool {
	groups, _ := os.Getgroups()
	return User() == 0 || gid == os.Getegid() || slices.Contains(groups, gid)
}

// AccessRemedy returns the remedy of a file that err keeps from being opened,
// if it loses no content: permission for this user, or a copy in the place of a
// file with several names. For other errors it returns otherwise.
func AccessRemedy(err error, otherwise status.Remedy) status.Remedy {
	if e, ok := errors.AsType[*status.Error](err); ok && e.Path != "" {
		otherwise = dir.Unmount(e.Path, otherwise)
	}
	at, ok := errors.AsType[*fs.PathError](err)
	if !ok || !filepath.IsAbs(at.Path) {
		return otherwise
	}
	if r := dir.Unmount(at.Path, status.Remedy{}); !r.IsZero() {
		return r
	}
	if errors.Is(err, ErrIrregular) {
		if info, err := os.Lstat(at.Path); err == nil && info.Mode().IsRegular() {
			return ownCopy(at.Path).Or("remove the other names of the file")
		}
	}
	if !errors.Is(err, fs.ErrPermission) {
		return otherwise
	}
	path := at.Path
	info, missing := os.Lstat(path)
	for errors.Is(missing, fs.ErrPermission) && path != "/" {
		path = filepath.Dir(path)
		info, missing = os.Lstat(path)
	}
	if missing != nil {
		return otherwise
	}
	for _, fixed := range []string{at.Path, filepath.Dir(at.Path)} {
		if errors.Is(err, syscall.EPERM) && dir.Fixed(fixed) {
			if os.Getuid() != 0 {
				return status.Remedy{Note: "let root remove the attributes i and a of " + fixed}
			}
			return status.Remedy{Tool: []string{"chattr", "-i", "-a", "--", fixed}}
		}
	}
	tool := []string{"chmod", "u+rw", path}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != User() {
		return GiveBack(path)
	} else if info.IsDir() {
		tool[1] = "u+rwx"
	}
	return status.Remedy{Tool: tool}
}

// GiveBack returns the remedy that makes a file or directory of another user this
// user's. Root alone can give it; else a readable file of content alone gives way to
// a copy.
func GiveBack(path string) status.Remedy {
	if os.Getuid() == 0 { // and effectively the user of the state, of which root runs the remedy
		return dir.Unmount(path, status.Remedy{Tool: []string{"chown", Ours(path), path}})
	}
	info, err := os.Lstat(path)
	lock := slices.Contains([]string{".lock", ".lease", ".fence"}, filepath.Ext(path)) // which its inode makes the lock
	if err == nil && info.Mode().IsRegular() && !lock && unix.Faccessat(unix.AT_FDCWD, path, unix.R_OK, unix.AT_EACCESS) == nil {
		return ownCopy(path)
	}
	return status.Remedy{Note: "let root give " + path + " to user and group " + Ours(path)}
}

// ownCopy returns the remedy that puts a copy of a file in its place.
func ownCopy(path string) status.Remedy {
	return status.Remedy{Tool: []string{"sh", "-c", `cp -p -- "$0" "$1" && mv -f -- "$1" "$0"`, path, unusedPath(path + ".own")}}
}

// MoveAway returns the remedy that moves path out of its state directory. note
// is a step before that; or empty.
func MoveAway(path, note string) status.Remedy {
	state, _, inside := strings.Cut(path, "/"+metaName+"/")
	if !inside {
		state = filepath.Dir(path)
	}
	away := unusedPath(state + "." + strings.TrimLeft(filepath.Base(path), ".") + ".away")
	return dir.Unmount(path, status.Remedy{Tool: []string{"mv", "--", path, away}, Note: note})
}

// unusedPath returns path, or a longer one if a file has that name.
func unusedPath(path string) string {
	for _, err := os.Lstat(path); err == nil; _, err = os.Lstat(path) {
		path += "~"
	}
	return path
}
