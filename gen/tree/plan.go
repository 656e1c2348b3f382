package tree

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/freehold-dev/freehold/gen"
	"github.com/freehold-dev/freehold/schema/declare"
)

// A state has the files that are generated from one owners.yaml.
type state struct {
	folder string // of the owners.yaml, relative to the module root
	files  []gen.File
}

// Plans compares the files that srcs generate with those in the module and
// changes nothing. The plans are in the order of srcs; the first also removes
// the files of former states. The files of the module's other states stay. It
// returns [declare.Problems] if a home of srcs is not apart from those of all
// other owners. It returns an error that names the file in the way if a file
// that Freehold did not generate is at the path of one to be written, or if a
// folder has a Go package of another name.
func (m *Module) Plans(srcs []*declare.Source) ([]*Plan, error) {
	now, err := m.scan()
	if err != nil {
		return nil, err
	}
	defer now.root.Close()
	others := m.others(now.folders, srcs)
	if err := checkHomes(srcs, others); err != nil {
		return nil, err
	}
	states, err := m.generate(srcs...)
	if err != nil {
		return nil, err
	}
	// Another state that cannot be generated counts as one with mistakes: its
	// files stay.
	all := states
	for _, src := range others {
		if s, err := m.generate(src); err == nil {
			all = append(all, s...)
		}
	}
	if err := now.addAll(states); err != nil {
		return nil, err
	}
	plans, err := now.compare(states, all[len(states):])
	if err != nil {
		return nil, err
	}
	return plans, m.checkNeighbours(states, now.accounted)
}

// generate generates the files of srcs.
func (m *Module) generate(srcs ...*declare.Source) ([]state, error) {
	var states []state
	var problems []error
	for _, src := range srcs {
		files, err := gen.Generate(src, m.Path)
		problems = append(problems, err)
		states = append(states, state{path.Clean(src.Folder), files})
	}
	return states, errors.Join(problems...)
}

// States lists all owners.yaml files of the module, as slash paths relative to
// its root, sorted.
func (m *Module) States() ([]string, error) {
	now, err := m.scan()
	if err != nil {
		return nil, err
	}
	defer now.root.Close()
	var files []string
	for _, folder := range now.folders {
		files = append(files, path.Join(folder, Declaration))
	}
	slices.Sort(files)
	return files, nil
}

// Apply carries out plan: it removes files and the directories that are empty
// then, and replaces files, each as a whole. No file that it writes is in the
// way of one that it removes, nor removed by a plan made together with this
// one. After an error some files are old and some new; [Module.Plans] tells
// which, and Apply may be called again.
func (m *Module) Apply(plan *Plan) error {
	root, err := os.OpenRoot(m.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, file := range plan.Remove {
		if err := root.Remove(file.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for dir := path.Dir(file.Path); dir != "." && root.Remove(dir) == nil; {
			dir = path.Dir(dir)
		}
	}
	for _, c := range plan.Write {
		if err := replace(root, c.Path, c.New); err != nil {
			return err
		}
	}
	return nil
}

// replace writes a file beside name and renames it to name, which keeps its owner,
// group and mode. Generated files need no sync: they can be generated again.
// Package renameio, which writes the sidecars, does not build on every platform
// that develops Go.
func replace(root *os.Root, name string, data []byte) (err error) {
	if _, err := MakeAll(root, path.Dir(name)); err != nil {
		return err
	}
	existing, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		existing = nil
	} else if err != nil {
		return err
	}
	dir, err := root.Stat(path.Dir(name))
	if err != nil {
		return err
	}
	collect(root, name)
	temp := path.Join(path.Dir(name), "."+path.Base(name)+"."+rand.Text())
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if existing != nil && existing.Mode().Perm()&0o600 != 0o600 || existing != nil && existing.Mode().Perm()&0o111 != 0 {
		err = errors.Join(err, KeepOwner(f, dir, nil)) // a mode that generating mends
	} else {
		err = errors.Join(err, KeepOwner(f, dir, existing))
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = root.Rename(temp, name)
	}
	if err != nil {
		return errors.Join(err, root.Remove(temp))
	}
	return nil
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

// collect removes the files that killed calls of replace for name have left. A
// living one takes no minute.
func collect(root *os.Root, name string) {
	d, err := root.Open(path.Dir(name))
	if err != nil {
		return
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	for _, n := range names {
		random, ok := strings.CutPrefix(n, "."+path.Base(name)+".")
		if !ok || len(random) != len(rand.Text()) || strings.Trim(random, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") != "" {
			continue
		}
		at := path.Join(path.Dir(name), n)
		if info, err := root.Lstat(at); err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) > time.Minute {
			root.Remove(at)
		}
	}
}
