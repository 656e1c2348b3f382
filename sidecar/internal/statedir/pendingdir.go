package statedir

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/dir"
	"github.com/freehold-dev/freehold/sidecar/internal/lock"
	"github.com/freehold-dev/freehold/sidecar/internal/pending"
	"github.com/freehold-dev/freehold/sidecar/internal/status"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
)

// A PendingDir is the open directory of one owner's pending patches. Its
// methods are safe for concurrent use. It is soon closed again, since it may be
// moved away.
type PendingDir struct {
	dir    *Dir
	owner  string
	name   string
	folder *dir.Dir
	read   atomic.Int64 // bytes
}

// OpenPending opens the directory of owner's pending patches. It returns an
// error that wraps [status.Lost] if the directory is missing or is not the one of
// m, and its patches with it.
func (d *Dir) OpenPending(m *schema.Manifest, owner string) (*PendingDir, error) {
	name := OwnerPending(owner)
	folder, err := d.meta.OpenDir(name)
	a := &PendingDir{dir: d, owner: owner, name: name, folder: folder}
	switch {
	case dir.NotThere(err):
		return nil, a.lost(d.meta.NoDir(name, err))
	case err != nil:
		return nil, d.meta.Fail("open", name, err)
	}
	err = folder.Private()
	if id := m.IDs[name]; err == nil && id != "" {
		if err = dir.Identify(folder, id); errors.Is(err, dir.ErrAnother) {
			err = a.lost(err)
		}
	}
	if err != nil {
		a.Close()
		return nil, err
	}
	return a, nil
}

func (a *PendingDir) lost(err error) error {
	path := filepath.Join(a.dir.meta.Path(), a.name)
	return fault(status.Lost, path, dir.Unmount(path, status.By(status.Repair).Or("put it back if it was moved; else stop the state's programs")), err)
}

// Close closes the directory.
func (a *PendingDir) Close() error {
	a.folder.Close()
	return nil
}

// Share keeps the directory from being sealed until Unshare. It returns an
// error that wraps [status.Busy] if a process has sealed the directory or waits
// to.
func (a *PendingDir) Share() error {
	if lock.HasWaiters(a.folder.FD()) { // else processes that defer without pause keep it from being sealed for ever
		return a.busy()
	}
	return a.take(unix.LOCK_SH)
}

// Seal keeps every process from putting a patch until Unshare, so that the list
// is complete. It waits up to wait, and then returns an error that wraps
// [status.Busy]; no process begins to put a patch meanwhile.
func (a *PendingDir) Seal(ctx context.Context, wait time.Duration) error {
	lock.SetWaiting(a.folder.FD(), true)
	defer lock.SetWaiting(a.folder.FD(), false)
	for backoff := lock.NewBackoff(lock.LongestPause); ; {
		err := a.take(unix.LOCK_EX)
		if !errors.Is(err, status.Busy) {
			return err
		}
		if more, ended := backoff.Pause(ctx, wait); ended != nil || !more {
			return errors.Join(err, ended)
		}
	}
}

func (a *PendingDir) take(how int) error {
	free, err := a.folder.Lock(how)
	if err == nil && !free {
		err = a.busy()
	}
	return err
}

func (a *PendingDir) busy() error {
	return fault(status.Busy, a.folder.Path(), byHand("try again"), errors.New("an upgrade of the state is under way, or a process defers a patch"))
}

// Unshare ends Share or Seal, also if a child has the descriptor between fork
// and exec.
func (a *PendingDir) Unshare() { a.folder.Unlock() }

// Path returns the absolute path of a file in the directory, for messages.
func (a *PendingDir) Path(name string) string { return a.folder.Join(name) }

// Names lists the patches that are whole, sorted. More than [MostPending] files
// are an error that wraps [ErrFlooded].
func (a *PendingDir) Names() ([]string, error) {
	names, err := a.folder.NamesUpTo(MostPending)
	if err != nil {
		return nil, err
	}
	if len(names) > MostPending {
		return nil, a.flooded("%d files", MostPending)
	}
	names = slices.DeleteFunc(names, func(name string) bool { return strings.HasPrefix(name, ".") })
	slices.Sort(names)
	return names, nil
}

// ReadFile reads the patch name. More than [MostPendingBytes] in all are an
// error that wraps [ErrFlooded].
func (a *PendingDir) ReadFile(name string, buf []byte, most int) ([]byte, error) {
	raw, err := a.folder.ReadFile(name, buf, most)
	if a.read.Add(int64(len(raw))) > MostPendingBytes {
		return nil, a.flooded("%d bytes", MostPendingBytes)
	}
	return raw, err
}

func (a *PendingDir) flooded(format string, most int) error {
	return fault(status.Unreadable, a.folder.Path(), byHand("move away the files of other programs"), fmt.Errorf("%w: more than "+format, ErrFlooded, most))
}

// Sizes returns the bytes of the files names, and their sum. It looks at those
// that are not in known, since no file changes, and leaves out those that are
// gone.
func (a *PendingDir) Sizes(names []string, known map[string]int64) (sizes map[string]int64, bytes int64, err error) {
	sizes = make(map[string]int64, len(names))
	for _, name := range names {
		size, ok := known[name]
		if !ok {
			var st unix.Stat_t
			switch err := unix.Fstatat(a.folder.FD(), name, &st, unix.AT_SYMLINK_NOFOLLOW); {
			case errors.Is(err, fs.ErrNotExist):
				continue
			case err != nil:
				return nil, 0, a.folder.Fail("stat", name, err)
			}
			size = st.Size
		}
		sizes[name] = size
		bytes += size
	}
	return sizes, bytes, nil
}

// Put makes raw the patch name, whole. The name is new, and durable after
// [PendingDir.Sync].
func (a *PendingDir) Put(name string, raw []byte) error {
	d, err := a.folder.Draft("patch", raw)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Publish(name)
}

// Remove removes a patch. One that is gone already is no error.
func (a *PendingDir) Remove(name string) error {
	if err := unix.Unlinkat(a.folder.FD(), name, 0); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return a.folder.Fail("remove", name, err)
	}
	return nil
}

// hands is the number of goroutines of RemoveAll for more patches than that.
const hands = 32

// RemoveAll removes patches and returns the first error. The kernel serves
// changes of a directory in turn, so that one goroutine would be no faster than
// one deferring process.
func (a *PendingDir) RemoveAll(names []string) error {
	var g errgroup.Group
	g.SetLimit(1)
	if len(names) > hands {
		g.SetLimit(hands)
	}
	for _, name := range names {
		g.Go(func() error { return a.Remove(name) })
	}
	return g.Wait()
}

// Sync makes the names in the directory durable, and that names are gone.
func (a *PendingDir) Sync() error { return a.folder.Sync() }

// Unmoved returns an error that wraps [status.Lost] or [status.Moved] if no
// process would find a patch in this directory any more.
func (a *PendingDir) Unmoved() error {
	if err := a.dir.Unmoved(); err != nil {
		return err
	}
	var open, named unix.Stat_t
	if err := unix.Fstat(a.folder.FD(), &open); err != nil {
		return a.folder.Fail("stat", ".", err)
	}
	if err := unix.Fstatat(a.dir.state.FD(), metaName+"/"+a.name, &named, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return a.lost(a.folder.Fail("look", ".", err))
	}
	if open.Ino != named.Ino || open.Dev != named.Dev {
		return a.lost(a.folder.Fail("look", ".", errors.New("it was moved or replaced")))
	}
	return nil
}

// makePending makes the directory name in .freehold, or takes the one that is
// there, and returns its id.
func makePending(meta *dir.Dir, name string) (id string, err error) {
	if err := meta.Mkdir(name); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	f, err := meta.OpenDir(name)
	if err != nil {
		return "", meta.NoDir(name, err)
	}
	defer f.Close()
	if err := f.Private(); err != nil {
		return "", err
	}
	return dir.MakeID(f)
}

// A PendingFile is one file in the directory of an owner's pending patches.
type PendingFile struct {
	Name string
	Path string // absolute
	Size int64  // in bytes
	// Patch is nil if no commit of this release can fold the file; then Err is
	// the reason, with the remedy.
	Patch *pending.Patch
	Err   error

	text []byte
}

// Same reports whether two readings of one directory found the same file.
func (f PendingFile) Same(g PendingFile) bool {
	return f.Name == g.Name && bytes.Equal(f.text, g.text) && fmt.Sprint(f.Err) == fmt.Sprint(g.Err)
}

// Patches reads the pending patches of owner, sorted by name, without a lock,
// or none and an error.
func (d *Dir) Patches(m *schema.Manifest, owner string) ([]PendingFile, error) {
	return d.ReadPatches(m, owner, nil)
}

// ReadPatches is [Dir.Patches] after an earlier reading: its files, known, are
// not decoded again if they are the same.
func (d *Dir) ReadPatches(m *schema.Manifest, owner string, known []PendingFile) ([]PendingFile, error) {
	a, err := d.OpenPending(m, owner)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	names, err := a.Names()
	if err != nil || len(names) == 0 {
		return nil, err
	}
	files := make([]PendingFile, 0, len(names))
	for _, name := range names {
		var before *PendingFile
		if i, ok := slices.BinarySearchFunc(known, name, func(f PendingFile, name string) int { return strings.Compare(f.Name, name) }); ok {
			before = &known[i]
		}
		f, err := a.readPatch(m.StateID, name, before)
		if errors.Is(err, fs.ErrNotExist) {
			continue // a commit has folded it
		}
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// ReadPatch reads the patch called name. Its error wraps [fs.ErrNotExist] or
// [ErrFlooded].
func (a *PendingDir) ReadPatch(stateID, name string) (PendingFile, error) {
	return a.readPatch(stateID, name, nil)
}

func (a *PendingDir) readPatch(stateID, name string, before *PendingFile) (PendingFile, error) {
	text, err := a.ReadFile(name, nil, pending.MaxSize)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, ErrFlooded):
		return PendingFile{}, err
	case err == nil && before != nil && before.text != nil && bytes.Equal(text, before.text):
		return *before, nil
	}
	f := PendingFile{Name: name, Path: a.Path(name), Size: int64(len(text)), text: text}
	remedy := MoveAway(f.Path, "look at it")
	if err == nil {
		f.Patch, err = pending.Decode(text, name, a.owner, stateID)
	} else {
		_, f.Size, _ = a.Sizes([]string{name}, nil)
		err, remedy = fmt.Errorf("%w: %w", status.Unreadable, err), AccessRemedy(err, remedy)
	}
	if err != nil {
		s := status.Of(err)
		if s == status.Newer {
			remedy = byHand("fold it with the release that deferred it")
		}
		f.Err = &status.Error{Status: s, Path: f.Path, Owner: a.owner, Remedy: remedy, Err: err}
	}
	return f, nil
}
