// Package statedir opens one state directory: its manifest, locks, claims,
// pending patches, quarantine, staged upgrades, and the roles of its files.
// Package store, which reads owners, documents the public part.
//
// A file is never read through a symbolic link, a named pipe, a device or a
// mount, and a directory only if no other user could replace it. Freehold owns
// all names below .freehold, and those that begin with ".freehold-".
package statedir

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/dir"
	"github.com/freehold-dev/freehold/sidecar/internal/status"
	"golang.org/x/sys/unix"
)

// A Dir is an open state directory. Its methods are safe for concurrent use.
type Dir struct {
	instance    string // the id that it was opened by, or empty
	state, meta *dir.Dir
}

// A Stamp says when names were last added to a directory or taken from it.
type Stamp = dir.Stamp

// Open opens the state directory path, as package store says.
func Open(path string) (*Dir, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	state, err := openSafe(path)
	if err != nil {
		return nil, err
	}
	meta, err := state.OpenChild(metaName)
	if err != nil {
		state.Close()
		return nil, stateError(path, err)
	}
	d := &Dir{state: state, meta: meta}
	if err = meta.Private(); err == nil {
		err = state.Remember()
	}
	if err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// openSafe opens the directory of a state or of one to be made.
func openSafe(path string) (*dir.Dir, error) {
	f, err := dir.OpenSafe(path)
	if err != nil {
		return nil, stateError(path, err)
	}
	return f, nil
}

func stateError(path string, err error) error {
	if errors.Is(err, unix.ENOTDIR) {
		return fault(status.NoState, path, byHand("name another directory"), errors.New("a file stands where a directory is to be"))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return fault(status.NoState, path, status.By(status.Init), nil)
	}
	return err
}

// Close closes the directory. Files and locks that were opened through it stay
// open.
func (d *Dir) Close() error {
	d.state.Unlock() // of LockShared
	d.meta.Close()
	d.state.Close()
	return nil
}

// Path returns the directory's absolute path.
func (d *Dir) Path() string { return d.state.Path() }

// Sync makes the names in the state directory durable.
func (d *Dir) Sync() error { return d.state.Sync() }

// Unmoved returns an error that wraps [status.Moved] if the path no longer
// names the directory. It allocates nothing without an error.
func (d *Dir) Unmoved() error { return d.state.Unmoved() }

// Stamp returns the state directory's stamp. It allocates nothing.
func (d *Dir) Stamp() (Stamp, error) { return d.state.Stamp() }

// ReadFile is [dir.Dir.ReadFile] in the state directory.
func (d *Dir) ReadFile(name string, buf []byte, most int) ([]byte, error) {
	return d.state.ReadFile(name, buf, most)
}

// Same is [dir.Dir.Same] in the state directory.
func (d *Dir) Same(name string, known, spare []byte) (bool, []byte) {
	return d.state.Same(name, known, spare)
}

// An Identity tells one file with its content from every other.
type Identity = dir.Identity

// IdentityOf is [dir.IdentityOf] in the state directory.
func IdentityOf(d *Dir, name string, now time.Time) (id Identity, atRest bool) {
	return dir.IdentityOf(d.state, name, now)
}

// SameManifest is [Dir.Same] for the manifest and [Dir.ManifestText].
func (d *Dir) SameManifest(known, spare []byte) (bool, []byte) {
	return d.meta.Same(manifestName, known, spare)
}

// Absent reports whether no file has the name in the state directory. It
// allocates nothing.
func (d *Dir) Absent(name string) bool { return d.state.Absent(name) }

// Replace replaces the file name in the state directory. After an error the
// file is as it was. [Dir.Sync] makes the new one survive power loss.
func (d *Dir) Replace(name string, raw []byte) error { return d.state.Replace(name, raw) }

// ReadRecord is [dir.Dir.ReadFile] in .freehold.
func (d *Dir) ReadRecord(name string, buf []byte, most int) ([]byte, error) {
	return d.meta.ReadFile(name, buf, most)
}

// WriteRecord replaces the file name in .freehold, whole and durably. No other
// process may be writing it.
func (d *Dir) WriteRecord(name string, raw []byte) error {
	if err := d.meta.WriteFile(name, raw); err != nil {
		return err
	}
	if err := d.meta.Sync(); err != nil {
		return err
	}
	return collect(d.meta, name) // not before: a whole one could mend the present file
}

// Collect removes the files that killed writers of the file name have staged.
// No other process may be writing it, and the file must be whole.
func (d *Dir) Collect(name string) error { return collect(d.state, name) }

// StagedFor lists the files that killed writers of the file name in d have staged, as far
// as no other process is writing it.
func StagedFor(d *Dir, name string) ([]string, error) { return stagedFor(d.state, name) }

func stagedFor(f *dir.Dir, target string) ([]string, error) {
	names, err := f.Names()
	return slices.DeleteFunc(names, func(name string) bool { return !stages(name, target) || !staged(f, name) }), err
}

func collect(f *dir.Dir, target string) error {
	names, err := stagedFor(f, target)
	if err != nil {
		return err
	}
	for _, name := range names {
		err := f.Root().Remove(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, unix.EBUSY) { // busy: a mount, so no commit made it
			return f.Located(err)
		}
	}
	return nil
}

// staged reports whether the file name, which has the name of a staged one, can be
// the work of a killed writer: regular, of this user, with one name, and with the
// beginning of a sidecar or of a record, or empty. The names carry no mark.
func staged(f *dir.Dir, name string) bool {
	var st unix.Stat_t
	if unix.Fstatat(f.FD(), name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil || int(st.Uid) != User() {
		return false
	}
	begin := "{"
	if filepath.Base(f.Path()) != metaName {
		begin = `{"$sidecar"`
	}
	raw, err := f.ReadFile(name, nil, schema.MaxManifest)
	text := strings.Replace(string(raw[:min(len(raw), len(begin)+1)]), "\n", "", 1)
	return err == nil && (strings.HasPrefix(text, begin) || strings.HasPrefix(begin, text))
}

// stages reports whether a writer of target could have staged name, as renameio
// does: a dot, target, and a decimal number, at random of 64 bits. A shorter one
// may be a date.
func stages(name, target string) bool {
	const fewest = 15 // digits
	number, ok := strings.CutPrefix(name, "."+target)
	return ok && len(number) >= fewest && strings.Trim(number, "0123456789") == ""
}
