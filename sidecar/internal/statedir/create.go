package statedir

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/dir"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/freehold-dev/freehold/sidecar/internal/status"
	"github.com/freehold-dev/freehold/sidecar/internal/witness"
	"golang.org/x/sys/unix"
)

// Create makes a state directory, as package store says.
func Create(path string, d *schema.Declaration) error {
	if err := d.Sound(); err != nil {
		return status.With(fmt.Errorf("%s: the state was not made: %w", path, err), byHand("mend the declaration"))
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	if d.Instanced() {
		f, made, err := gather(path, d)
		if err != nil {
			return err
		}
		defer f.Close()
		if !made {
			return exists(path)
		}
		return nil
	}
	if info, err := os.Lstat(filepath.Join(path, metaName)); err == nil && !info.IsDir() {
		return fault(status.Unreadable, filepath.Join(path, metaName), byHand("look at it and move it away"), fmt.Errorf("%w: it should be a directory of Freehold's", ErrIrregular))
	} else if err == nil {
		return exists(path)
	}
	return withDir(path, func(f *dir.Dir) error {
		names, err := leftovers(f)
		if err != nil {
			return err
		}
		for _, name := range names {
			_, _ = removeLeftover(f, name) // one that stays is in no process's way
		}
		return stage(f, metaName, func(meta *dir.Dir) error {
			return (&Dir{state: f, meta: meta}).WriteManifest(newManifest(d, ""))
		})
	})
}

func exists(path string) error {
	return fault(status.Exists, path, byHand("open it, or name another directory"), nil)
}

// withDir makes the directory path and the missing ones above it, calls work,
// and then makes their names durable.
func withDir(path string, work func(*dir.Dir) error) (err error) {
	made, err := makeAll(path)
	defer func() { remove(made, err) }()
	if err != nil {
		return err
	}
	f, err := openSafe(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := work(f); err != nil {
		return err
	}
	if err := syncParents(append(made, path)); err != nil {
		return unmake(f, metaName, err)
	}
	return nil
}

// remove removes directories that were made, if err is an error. One that is not
// empty is another process's by now.
func remove(made []string, err error) {
	for _, path := range slices.Backward(made) {
		if err != nil {
			os.Remove(path)
		}
	}
}

// unmake takes the directory name in f back, which was made a moment ago and may not
// be durable because of err, and returns err. The directory stays if a process has
// committed there: it was told that its commit holds. A commit that is under way finds
// that the directory was moved.
func unmake(f *dir.Dir, name string, err error) error {
	gone := gonePrefix + process.NewNonce()
	if lost := unix.Renameat(f.FD(), name, f.FD(), gone); lost != nil {
		return errors.Join(err, f.Fail("rename", name, lost))
	}
	if used(f.Join(gone)) || name == metaName && HoldsInstances(f.Path()) {
		return errors.Join(err, f.RenameNew(gone, name))
	}
	if lost := f.Root().RemoveAll(gone); lost != nil {
		return errors.Join(err, f.Located(lost))
	}
	return err
}

// used reports whether a process has committed, claimed or deferred in the new state
// or .freehold at path: a commit and a claim leave their witness in a lock file.
func used(path string) bool {
	var found bool
	_ = filepath.WalkDir(path, func(at string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		switch {
		case strings.HasSuffix(filepath.Dir(at), OwnerPending("")):
			found = found || e.Name() != dir.IDName
		case filepath.Ext(at) == ".lock" && e.Type().IsRegular():
			text, err := os.ReadFile(at)
			found = found || err == nil && len(text) > witness.IDSize && len(bytes.TrimSpace(text[witness.IDSize:])) > 0
		}
		return nil
	})
	return found
}

func newManifest(d *schema.Declaration, id string) *schema.Manifest {
	m := &schema.Manifest{
		Format:      schema.ManifestFormat,
		StateID:     process.NewNonce() + process.NewNonce(),
		Instance:    id,
		Locks:       map[string]uint64{},
		Declaration: *d,
	}
	m.AddModule(d.Module)
	m.Declaration.Module = ""
	return m
}

// makeAll makes path and the missing directories above it, for this user alone
// despite the umask, and returns those that it made.
func makeAll(path string) (made []string, err error) {
	if _, err := os.Stat(path); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if made, err = makeAll(filepath.Dir(path)); err != nil {
		return made, err
	}
	if err := os.Mkdir(path, 0o700); errors.Is(err, fs.ErrExist) {
		return made, nil // another process did at this moment, or it is no directory, which shows later
	} else if err != nil {
		return made, err
	}
	return append(made, path), os.Chmod(path, 0o700)
}

func syncParents(paths []string) error {
	for _, path := range paths {
		if err := syncParent(path); err != nil {
			return err
		}
	}
	return nil
}

// syncParent makes the name of a directory that may be new durable.
func syncParent(path string) error {
	parent, err := os.Open(filepath.Dir(path))
	if errors.Is(err, fs.ErrPermission) {
		return nil // then this process did not make it
	}
	if err != nil {
		return err
	}
	defer parent.Close()
	return parent.Sync()
}

// Find returns the nearest state directory from start upward.
func Find(start string) (string, error) {
	start, err := filepath.Abs(start)
	if err != nil {
		return "", err
	}
	for at := start; ; at = filepath.Dir(at) {
		if info, err := os.Lstat(filepath.Join(at, metaName)); err == nil && info.IsDir() {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", fault(status.NoState, start, status.By(status.Init).Or("name a state directory"), errors.New("nor is a directory above it"))
		}
	}
}

// newPrefix and gonePrefix begin the names of directories in the making and of
// instances that are being removed. They name no owner's file and no instance,
// since those do not begin with a dot.
const (
	newPrefix  = ".freehold-new-"
	gonePrefix = ".freehold-gone-"
)

// stage makes the directory name whole: under another name first, then by a
// rename. It returns an error that wraps [status.Exists] if name is a directory
// that is not empty.
func stage(f *dir.Dir, name string, fill func(*dir.Dir) error) error {
	fresh, err := begin(f)
	if err != nil {
		return err
	}
	defer fresh.Close()
	base := filepath.Base(fresh.Path())
	if err = fill(fresh); err == nil {
		err = unix.Renameat(f.FD(), base, f.FD(), name)
	}
	if err != nil {
		f.Root().RemoveAll(base)
	}
	fresh.Unlock() // not left to a child that is between fork and exec
	if err == nil {
		if err := f.Sync(); err != nil {
			return unmake(f, name, err)
		}
		return nil
	}
	if errors.Is(err, fs.ErrExist) || errors.Is(err, unix.ENOTEMPTY) {
		return exists(f.Join(name))
	}
	if _, bare := err.(unix.Errno); bare {
		return f.Fail("rename", name, err)
	}
	return err
}

// begin makes a new directory and locks it for as long as it is open, so that
// one without a lock is orphaned. If the remover of an orphan comes between the
// two steps, begin tries again. The lock is shared, so that other processes may
// work in the directory under its final name while its maker is stopped.
func begin(f *dir.Dir) (*dir.Dir, error) {
	for {
		name := newPrefix + process.NewNonce()
		var fresh *dir.Dir
		err := f.Mkdir(name)
		if err == nil {
			fresh, err = f.OpenChild(name)
		}
		if errors.Is(err, fs.ErrNotExist) && f.Named() {
			continue
		}
		if err != nil {
			f.Root().Remove(name)
			return nil, err
		}
		locked, err := fresh.Lock(unix.LOCK_SH)
		if locked && fresh.Named() {
			return fresh, nil
		}
		fresh.Close()
		f.Root().Remove(name) // the directory lost its name, or could not be looked at
		if err != nil {
			return nil, err
		}
	}
}
