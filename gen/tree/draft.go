package tree

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// A draft is the next text of a file, beside the file. Package renameio, which writes
// the sidecars, does not build on every platform that develops Go.
type draft struct {
	root       *os.Root
	name, temp string
	file       *os.File // locked while its writer lives
}

// Replace writes data beside the file name and renames that to name, which keeps its
// owner, group and mode, and is as it was after an error. If not nil, last is called
// with the new file just before. Generated files need no sync: they can be generated
// again.
func Replace(root *os.Root, name string, data []byte, last func(*os.File) error) error {
	existing, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		existing = nil
	} else if err != nil {
		return err
	}
	if existing != nil && !existing.Mode().IsRegular() {
		existing = nil // a link, which has no mode of its own
	}
	d, err := newDraft(root, name, data, existing)
	if err != nil {
		return err
	}
	if last != nil {
		err = last(d.file)
	}
	if err == nil {
		err = root.Rename(d.temp, name)
	}
	return d.end(err)
}

// Create writes the file name, whole, which must not be there yet. It returns an
// error that wraps [fs.ErrExist] if it is.
func Create(root *os.Root, name string, data []byte) error {
	d, err := newDraft(root, name, data, nil)
	if err != nil {
		return err
	}
	if err = root.Link(d.temp, name); err != nil {
		return d.end(err)
	}
	if err = root.Remove(d.temp); err != nil {
		err = errors.Join(err, root.Remove(name)) // all or nothing
	}
	return d.end(err)
}

// newDraft writes the draft of name, which is to have the owner and mode of the file
// existing, or of a new file.
func newDraft(root *os.Root, name string, data []byte, existing fs.FileInfo) (*draft, error) {
	collect(root, path.Dir(name))
	dir, err := root.Stat(path.Dir(name))
	if err != nil {
		return nil, err
	}
	d := &draft{root: root, name: name}
	for range 8 { // another call may take the file for a dead one's before it is locked
		d.temp = path.Join(path.Dir(name), "."+path.Base(name)+"."+rand.Text())
		if d.file, err = root.OpenFile(d.temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666); err != nil {
			return nil, err
		}
		if err = locked(root, d.temp, d.file); err == nil {
			_, err = d.file.Write(data)
			if err = errors.Join(err, KeepOwner(d.file, dir, existing)); err != nil {
				return nil, d.end(err)
			}
			return d, nil
		}
		root.Remove(d.temp) // if the call has not done that
		d.file.Close()
	}
	return nil, &fs.PathError{Op: "lock", Path: d.temp, Err: err}
}

// end closes the draft, and removes it after an error.
func (d *draft) end(err error) error {
	if err != nil {
		if lost := d.root.Remove(d.temp); !errors.Is(lost, fs.ErrNotExist) {
			err = errors.Join(err, lost)
		}
	}
	return errors.Join(err, d.file.Close())
}

// locked takes the lock of the draft temp, which file has open. It returns an error
// if it did not, or temp is no longer that file.
func locked(root *os.Root, temp string, file *os.File) error {
	if err := lock(file); err != nil {
		return err
	}
	is, err := file.Stat()
	if err != nil {
		return err
	}
	there, err := root.Lstat(temp)
	if err == nil && !os.SameFile(is, there) {
		err = fs.ErrNotExist
	}
	return err
}

// collect removes the drafts that killed processes have left in the folder.
func collect(root *os.Root, folder string) {
	d, err := root.Open(folder)
	if err != nil {
		return
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	for _, name := range names {
		temp := path.Join(folder, name)
		if !isDraft(name) {
			continue
		}
		if info, err := root.Lstat(temp); err != nil || !info.Mode().IsRegular() {
			continue
		}
		f, err := root.Open(temp)
		if err != nil {
			continue
		}
		if locked(root, temp, f) == nil {
			root.Remove(temp)
		}
		f.Close()
	}
}

// isDraft reports whether name is that of the draft of a file that Freehold writes
// into a module.
func isDraft(name string) bool {
	of, random := strings.TrimSuffix(name, path.Ext(name)), strings.TrimPrefix(path.Ext(name), ".")
	return strings.HasPrefix(name, ".") && len(random) == len(rand.Text()) &&
		strings.Trim(random, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == "" &&
		slices.Contains([]string{".go", ".md", ".json", ".yaml"}, path.Ext(of))
}

// MakeAll makes the missing directories of the slash-separated path name below
// root, each as the user of the one above. It returns those that it made, also with
// an error.
func MakeAll(root *os.Root, name string) (made []string, err error) {
	if name == "." {
		return nil, nil
	}
	if made, err = MakeAll(root, path.Dir(name)); err != nil {
		return made, err
	}
	if err := root.Mkdir(name, 0o777); errors.Is(err, fs.ErrExist) {
		return made, nil
	} else if err != nil {
		return made, err
	}
	made = append(made, name)
	above, err := root.Stat(path.Dir(name))
	if err != nil {
		return made, err
	}
	f, err := root.Open(name)
	if err != nil {
		return made, err
	}
	return made, errors.Join(KeepOwner(f, above, nil), f.Close())
}
