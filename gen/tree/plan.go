package tree

import (
	"errors"
	"os"
	"path"
	"slices"

	"github.com/freehold-dev/freehold/gen"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/schema/declare"
)

// Plan is [Module.Plans] for one state.
func (m *Module) Plan(src *declare.Source) (*gen.Plan, error) {
	plans, err := m.Plans([]*declare.Source{src})
	if err != nil {
		return nil, err
	}
	return plans[0], nil
}

// Plans compares what srcs generate with what stands in the module and changes
// nothing. The plans are in the order of srcs; orphans that belong to no state
// are in the first. The module's other states are read too: their files stay,
// and their homes must stay apart from those of srcs. It returns
// [declare.Problems] if they do not, and an error that names what is in the
// way if a file that Freehold did not generate stands where one is to be
// written, or if a folder holds a Go package of another name.
func (m *Module) Plans(srcs []*declare.Source) ([]*gen.Plan, error) {
	root, err := os.OpenRoot(m.Dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	tree, err := scan(root, m.Path)
	if err != nil {
		return nil, err
	}
	others := readOthers(root, tree.Folders, srcs)
	if err := checkHomes(srcs, others); err != nil {
		return nil, err
	}
	states, err := m.generate(srcs)
	if err != nil {
		return nil, err
	}
	// A state that is not asked for and cannot be generated is as good as one
	// with mistakes: its files stay, and whoever generates it hears why.
	var rest []gen.State
	for _, src := range others {
		s, err := m.generate([]*declare.Source{src})
		if err == nil {
			rest = append(rest, s...)
		}
	}
	if err := standing(root, tree, states); err != nil {
		return nil, err
	}
	plans, err := gen.Compare(tree, states, rest)
	if err != nil {
		return nil, err
	}
	dropAliases(root, plans, slices.Concat(states, rest))
	return plans, m.checkNeighbours(states, ours(plans, slices.Concat(states, rest)))
}

// generate generates the files of srcs.
func (m *Module) generate(srcs []*declare.Source) ([]gen.State, error) {
	var states []gen.State
	var problems []error
	for _, src := range srcs {
		files, err := gen.Generate(src, m.Path)
		problems = append(problems, err)
		states = append(states, gen.State{Folder: path.Clean(src.Folder), Files: files})
	}
	return states, errors.Join(problems...)
}

// readOthers reads the declarations in folders that are not those of srcs. One
// that has mistakes, or is none, is left out.
func readOthers(root *os.Root, folders []string, srcs []*declare.Source) []*declare.Source {
	var others []*declare.Source
	for _, folder := range folders {
		if slices.ContainsFunc(srcs, func(src *declare.Source) bool { return path.Clean(src.Folder) == folder }) {
			continue
		}
		name := path.Join(folder, Declaration)
		if info, err := root.Stat(name); err != nil || !info.Mode().IsRegular() || info.Size() > schema.MaxManifest {
			continue
		}
		text, err := root.ReadFile(name)
		if err != nil {
			continue
		}
		if src, err := declare.Parse(name, folder, text); err == nil {
			others = append(others, src)
		}
	}
	return others
}

// ours returns the files that are, or are going to be, what states generate,
// and those that are going to be removed.
func ours(plans []*gen.Plan, states []gen.State) map[string]bool {
	names := map[string]bool{}
	for _, s := range states {
		for _, file := range s.Files {
			names[file.Path] = true
		}
	}
	for _, plan := range plans {
		for _, file := range plan.Remove {
			names[file.Path] = true
		}
	}
	return names
}

// States lists every owners.yaml of the module, as slash paths relative to its
// root, sorted.
func (m *Module) States() ([]string, error) {
	root, err := os.OpenRoot(m.Dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	tree, err := scan(root, m.Path)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, folder := range tree.Folders {
		files = append(files, path.Join(folder, Declaration))
	}
	slices.Sort(files)
	return files, nil
}
