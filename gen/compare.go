package gen

import (
	"bytes"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
)

// A Tree is what stands in a module, as far as generated files go.
type Tree struct {
	// Module is the module's path.
	Module string
	// Folders that hold an owners.yaml, as slash paths relative to the
	// module root.
	Folders []string
	// Files by slash path: every file that [Generated] knows, and whatever
	// else stands where a file is to be written.
	Files map[string][]byte
	// Modes has the permissions of those files. A generated file can be read
	// and not be executed; one of which the mode is not known is as it should
	// be.
	Modes map[string]fs.FileMode
	// Skipped lists the folders that could not be read.
	Skipped []string
}

// A State is what [Generate] makes for one owners.yaml.
type State struct {
	Folder string // of the owners.yaml, relative to the module root
	Files  []File
}

// Compare plans, for each of states, what it takes to have its files. others
// are the further states of the module: their files stay. A plan removes the
// generated files that its owners.yaml made and makes no more; the first one
// also removes those that belong to no owners.yaml of the module, unless there
// may be one whose state is in neither list: its files would seem to be such.
// The error names every file in the way which Freehold did not generate, or
// which another state has.
func Compare(tree *Tree, states, others []State) ([]*Plan, error) {
	c := &comparison{Tree: tree, wanted: map[string]string{}, known: map[string]bool{}}
	for _, s := range others {
		c.known[s.Folder] = true
		for _, file := range s.Files {
			c.wanted[file.Path] = s.Folder
		}
	}
	for _, s := range states {
		c.want(s)
	}
	var plans []*Plan
	for _, s := range states {
		plans = append(plans, c.plan(s))
	}
	c.remove(states, plans)
	if len(plans) > 0 {
		plans[0].Skipped = c.Skipped
	}
	if err := errors.Join(c.problems...); err != nil {
		return nil, err
	}
	return plans, nil
}

// A comparison is of one tree with all states of its module.
type comparison struct {
	*Tree
	wanted   map[string]string // the state's folder, by file
	known    map[string]bool   // folders whose states are known
	problems []error
}

func (c *comparison) want(s State) {
	c.known[s.Folder] = true
	for _, file := range s.Files {
		if other, ok := c.wanted[file.Path]; ok {
			c.problems = append(c.problems, fmt.Errorf("%s is generated from %s and from %s: rename one of the owners or states, or move one owners.yaml",
				file.Path, path.Join(other, "owners.yaml"), path.Join(s.Folder, "owners.yaml")))
		}
		c.wanted[file.Path] = s.Folder
	}
}

// plan plans the writing of one state's files.
func (c *comparison) plan(s State) *Plan {
	plan := new(Plan)
	for _, file := range s.Files {
		old, exists := c.Files[file.Path]
		if !exists {
			plan.Write = append(plan.Write, Change{Path: file.Path, New: file.Data})
			continue
		}
		if err := c.mayReplace(s.Folder, File{file.Path, old}); err != nil {
			c.problems = append(c.problems, err)
		}
		change := Change{Path: file.Path, Old: old, New: file.Data, Mode: c.oddMode(file.Path)}
		if bytes.Equal(old, file.Data) && change.Mode == nil {
			plan.Keep = append(plan.Keep, file.Path)
			continue
		}
		plan.Write = append(plan.Write, change)
	}
	return plan
}

// remove plans the removal of what no state wants.
func (c *comparison) remove(states []State, plans []*Plan) {
	complete := len(c.Skipped) == 0 && !slices.ContainsFunc(c.Folders, func(folder string) bool { return !c.known[folder] })
	for _, name := range slices.Sorted(maps.Keys(c.Files)) {
		file := File{name, c.Files[name]}
		if _, wanted := c.wanted[name]; wanted || !Generated(name, file.Data) {
			continue
		}
		origin, ok := c.origin(file)
		i := slices.IndexFunc(states, func(s State) bool { return s.Folder == origin })
		if !ok && complete {
			i = 0
		}
		if i >= 0 && i < len(plans) {
			plans[i].Remove = append(plans[i].Remove, file)
		}
	}
}

// mayReplace returns an error if file, which is in the way of the state in
// folder, is not for that to replace. What another state made and makes no
// more has changed hands.
func (c *comparison) mayReplace(folder string, file File) error {
	if !Generated(file.Path, file.Data) {
		return fmt.Errorf("%s is in the way, and Freehold did not generate it: move it", file.Path)
	}
	if origin, ok := c.origin(file); ok && origin != folder && !c.known[origin] {
		return fmt.Errorf("%s is in the way, generated from %s, which has mistakes and may still make it: mend them first",
			file.Path, path.Join(origin, "owners.yaml"))
	}
	return nil
}

// oddMode returns the file's permissions if they are not those of a generated
// file. Which others may read or write it is the matter of whoever has the
// module, as with any source.
func (t *Tree) oddMode(name string) *fs.FileMode {
	mode, ok := t.Modes[name]
	if !ok || mode&0o111 == 0 && mode&0o400 != 0 {
		return nil
	}
	return &mode
}

// origin returns the folder of the owners.yaml that made a generated file, if
// that is still there. The mark names no path, so that files may move; but
// writer and test packages import the view package, which is the folder, and
// the other files stand in it or one below.
func (t *Tree) origin(file File) (folder string, ok bool) {
	if strings.HasSuffix(file.Path, ".go") {
		for _, imported := range imports(file) {
			for _, folder := range t.Folders {
				if imported == path.Join(t.Module, folder) {
					return folder, true
				}
			}
		}
	}
	dir := path.Dir(file.Path)
	if slices.Contains(t.Folders, dir) {
		return dir, true
	}
	below := path.Base(dir) == "schema" || strings.HasSuffix(dir, "test")
	if above := path.Dir(dir); below && slices.Contains(t.Folders, above) {
		return above, true
	}
	return "", false
}

// imports returns the import paths of a Go file; none if it does not parse.
func imports(file File) []string {
	f, err := parser.ParseFile(token.NewFileSet(), file.Path, file.Data, parser.ImportsOnly)
	if err != nil {
		return nil
	}
	var paths []string
	for _, spec := range f.Imports {
		if imported, err := strconv.Unquote(spec.Path.Value); err == nil {
			paths = append(paths, imported)
		}
	}
	return paths
}

// Generated reports whether data, the content of the file name, has the mark
// of a generated file. Only such files are ever replaced or removed.
func Generated(name string, data []byte) bool {
	head, _, _ := bytes.Cut(data, []byte("\n"))
	head = bytes.TrimSuffix(head, []byte("\r"))
	switch path.Ext(name) {
	case ".go":
		return string(head) == "// "+generated
	case ".md":
		return string(head) == "<!-- "+generated+" -->"
	case ".json":
		return bytes.Contains(data[:min(len(data), MarkWithin)], []byte(`"$comment": "`+generated+`"`))
	}
	return false
}

// MarkWithin is the number of bytes at the start of a file that are enough for
// [Generated].
const MarkWithin = 256
