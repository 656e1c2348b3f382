package statedir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/freehold-dev/freehold/sidecar/internal/dir"
	"github.com/freehold-dev/freehold/sidecar/internal/status"
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

// User returns the number of the user as whom this process opens files.
func User() int { return os.Geteuid() }

// AccessRemedy returns the remedy of a file that cannot be read because of err:
// permission for this user on the file or a directory above it, or else
// otherwise.
func AccessRemedy(err error, otherwise status.Remedy) status.Remedy {
	var at *fs.PathError
	if !errors.Is(err, fs.ErrPermission) || !errors.As(err, &at) || !filepath.IsAbs(at.Path) {
		return otherwise
	}
	path := at.Path
	info, missing := os.Lstat(path)
	for errors.Is(missing, fs.ErrPermission) {
		path = filepath.Dir(path)
		info, missing = os.Lstat(path)
	}
	if missing != nil {
		return otherwise
	}
	tool := []string{"chmod", "u+rw", path}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != User() {
		tool = []string{"chown", fmt.Sprint(User()), path}
	} else if info.IsDir() {
		tool[1] = "u+rwx"
	}
	return status.Remedy{Tool: tool}
}
