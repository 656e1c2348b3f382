package tree

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"

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
// which, and Apply may be called again; it leaves no directory that is empty.
func (m *Module) Apply(plan *Plan) error {
	root, err := os.OpenRoot(m.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, folder := range plan.folders() {
		collect(root, folder)
	}
	for _, file := range plan.Remove {
		if err := root.Remove(file.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for dir := path.Dir(file.Path); dir != "." && root.Remove(dir) == nil; {
			dir = path.Dir(dir)
		}
	}
	for _, c := range plan.Write {
		made, err := MakeAll(root, path.Dir(c.Path))
		if err == nil {
			err = mend(root, c.Path)
		}
		if err == nil {
			err = Replace(root, c.Path, c.New, nil)
		}
		if err != nil {
			for _, dir := range slices.Backward(made) {
				root.Remove(dir)
			}
			return err
		}
	}
	return nil
}

// mend lets the user of the generated file name read and write the file, and nobody
// execute it. Replace keeps the mode.
func mend(root *os.Root, name string) error {
	info, err := root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil || !info.Mode().IsRegular():
		return err
	}
	if mode := info.Mode()&^0o111 | 0o600; mode != info.Mode() {
		return root.Chmod(name, mode)
	}
	return nil
}

// folders lists the folders of all files of the plan.
func (p *Plan) folders() []string {
	var all []string
	for _, name := range p.Keep {
		all = append(all, path.Dir(name))
	}
	for _, file := range p.Remove {
		all = append(all, path.Dir(file.Path))
	}
	for _, c := range p.Write {
		all = append(all, path.Dir(c.Path))
	}
	slices.Sort(all)
	return slices.Compact(all)
}
