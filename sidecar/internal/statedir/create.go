package statedir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/dir"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/freehold-dev/freehold/sidecar/internal/status"
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
	defer func() {
		for _, path := range slices.Backward(made) {
			if err != nil {
				os.Remove(path) // it is empty, or another process uses it
			}
		}
	}()
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
	for _, path := range append(made, path) {
		if err := syncParent(path); err != nil {
			return err
		}
	}
	return nil
}

func newManifest(d *schema.Declaration, id string) *schema.Manifest {
	return &schema.Manifest{
		Format:      schema.ManifestFormat,
		StateID:     process.NewNonce() + process.NewNonce(),
		Instance:    id,
		Locks:       map[string]uint64{},
		Declaration: *d,
	}
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
		return f.Sync()
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
