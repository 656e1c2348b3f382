package store

import (
	"errors"
	"io/fs"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// ReadRecord reads the file name in .freehold, with the errors of
// [Store.ReadFile].
func (d *Store) ReadRecord(name string, buf []byte, most int) ([]byte, error) {
	return d.meta.ReadFile(name, buf, most)
}

// WriteRecord replaces the file name in .freehold, whole and durably. No other
// process may be writing it: files of killed writers are removed.
func (d *Store) WriteRecord(name string, raw []byte) error {
	if err := d.meta.collect(name); err != nil {
		return err
	}
	if err := d.meta.WriteFile(name, raw); err != nil {
		return err
	}
	return d.meta.Sync()
}

// Collect removes the staged files of killed writers of the file name in the
// state directory. No other process may be writing it.
func (d *Store) Collect(name string) error { return d.state.collect(name) }

func (f *folder) collect(target string) error {
	names, err := f.staged(target)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := f.Root().Remove(name); errors.Is(err, unix.EBUSY) {
			continue // something is mounted over it, so no commit made it
		} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return f.Located(err)
		}
	}
	return nil
}

// staged lists the files that writers of the file target have staged, by the
// names of renameio: a dot, the name of the target, and a decimal number.
func (f *folder) staged(target string) ([]string, error) {
	names, err := f.Names()
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(names, func(name string) bool {
		if !stages(name, target) {
			return true
		}
		info, err := f.Root().Lstat(name)
		return err != nil || !info.Mode().IsRegular() // gone, or something that no commit made
	}), nil
}

// stages reports whether a writer of target could have staged name.
func stages(name, target string) bool {
	number, ok := strings.CutPrefix(name, "."+target)
	return ok && number != "" && strings.Trim(number, "0123456789") == ""
}
