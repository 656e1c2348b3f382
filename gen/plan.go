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

	"github.com/rogpeppe/go-internal/diff"
)

// A State has the files that [Generate] makes of one owners.yaml.
type State struct {
	Folder string // of the owners.yaml, relative to the module root
	Files  []File
}

// A Tree has the generated files of a module.
type Tree struct {
	// Module is the module's path.
	Module string
	// Folders with an owners.yaml, as slash paths relative to the module root.
	Folders []string
	// Files by slash path: all files for which [Generated] is true, and any
	// other file at the path of a file to be written.
	Files map[string][]byte
	// Modes has the permissions of those files, as far as they are known.
	Modes map[string]fs.FileMode
	// Skipped lists the folders that could not be read.
	Skipped []string
}

// A Plan makes the files of one state current. It is data: package gen/tree
// carries it out.
type Plan struct {
	// Write lists the files that are missing or differ, sorted.
	Write []Change
	// Remove lists the generated files that no declaration makes, sorted.
	Remove []File
	// Keep lists the files that are current, sorted.
	Keep []string
	// Skipped lists the folders that could not be searched for generated files.
	Skipped []string
}

// A Change is one file to be written.
type Change struct {
	Path string // slash-separated, relative to the module root
	Old  []byte // nil if there is no such file
	New  []byte
	// Mode has the permissions of the old file, if a generated file has other
	// ones.
	Mode *fs.FileMode
}

// Diff returns the changes of the plan as a unified diff. Permissions are in it
// as git shows them.
func (p *Plan) Diff() []byte {
	var b bytes.Buffer
	for _, c := range p.Write {
		b.Write(c.diff())
	}
	for _, file := range p.Remove {
		b.Write(diff.Diff("a/"+file.Path, file.Data, "/dev/null", nil))
	}
	return b.Bytes()
}

func (c Change) diff() []byte {
	if c.Old == nil {
		return diff.Diff("/dev/null", nil, "b/"+c.Path, c.New)
	}
	text := diff.Diff("a/"+c.Path, c.Old, "b/"+c.Path, c.New)
	if c.Mode == nil {
		return text
	}
	_, rest, _ := bytes.Cut(text, []byte("\n"))
	head := fmt.Appendf(nil, "diff a/%s b/%s\nold mode 100%03o\nnew mode 100644\n", c.Path, c.Path, c.Mode.Perm())
	return append(head, rest...)
}

// Compare plans the changes that make all files of states current. The files
// of others, the further states of the module, stay. A plan removes the files
// that its owners.yaml made and makes no more. The first plan also removes
// files of no owners.yaml, unless the module may have a state that is in
// neither list. The error names all files in the way that Freehold did not
// generate, or that belong to another state.
func Compare(tree *Tree, states, others []State) ([]*Plan, error) {
	c := &comparison{Tree: tree, makers: map[string]string{}, known: map[string]bool{}}
	for i, s := range slices.Concat(others, states) {
		c.known[s.Folder] = true
		for _, file := range s.Files {
			if other, ok := c.makers[file.Path]; ok && i >= len(others) {
				c.problems = append(c.problems, fmt.Errorf("%s is generated from %s and from %s: rename one of the owners or states, or move one owners.yaml",
					file.Path, path.Join(other, "owners.yaml"), path.Join(s.Folder, "owners.yaml")))
			}
			c.makers[file.Path] = s.Folder
		}
	}
	var plans []*Plan
	for _, s := range states {
		plans = append(plans, c.plan(s))
	}
	if len(plans) > 0 {
		plans[0].Skipped = c.Skipped
		c.planRemovals(states, plans)
	}
	if err := errors.Join(c.problems...); err != nil {
		return nil, err
	}
	return plans, nil
}

// A comparison is of one tree with all states of its module.
type comparison struct {
	*Tree
	makers   map[string]string // the folder of the state that makes a file
	known    map[string]bool   // the folders of the states
	problems []error
}

// plan plans the writing of one state's files.
func (c *comparison) plan(s State) *Plan {
	plan := new(Plan)
	for _, file := range s.Files {
		change := Change{Path: file.Path, New: file.Data}
		if old, exists := c.Files[file.Path]; exists {
			change.Old, change.Mode = old, c.oddMode(file.Path)
			if err := c.mayReplace(s.Folder, File{file.Path, old}); err != nil {
				c.problems = append(c.problems, err)
			}
			if bytes.Equal(old, file.Data) && change.Mode == nil {
				plan.Keep = append(plan.Keep, file.Path)
				continue
			}
		}
		plan.Write = append(plan.Write, change)
	}
	return plan
}

// planRemovals adds the generated files that no state makes to the plans.
func (c *comparison) planRemovals(states []State, plans []*Plan) {
	allKnown := len(c.Skipped) == 0 && !slices.ContainsFunc(c.Folders, func(folder string) bool { return !c.known[folder] })
	for _, name := range slices.Sorted(maps.Keys(c.Files)) {
		file := File{name, c.Files[name]}
		if _, made := c.makers[name]; made || !Generated(name, file.Data) {
			continue
		}
		origin, ok := c.origin(file)
		i := slices.IndexFunc(states, func(s State) bool { return s.Folder == origin })
		if !ok && allKnown {
			i = 0
		}
		if i >= 0 {
			plans[i].Remove = append(plans[i].Remove, file)
		}
	}
}

// mayReplace returns an error if the state in folder must not replace file. A
// file that another state of the module made and makes no more may change
// hands.
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

// oddMode returns the file's permissions if its user may execute or not read
// the file. Permissions of others are not Freehold's matter.
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
// the other files are in the folder or one below.
func (t *Tree) origin(file File) (folder string, ok bool) {
	for _, imported := range imports(file) {
		for _, folder := range t.Folders {
			if imported == path.Join(t.Module, folder) {
				return folder, true
			}
		}
	}
	dir := path.Dir(file.Path)
	if slices.Contains(t.Folders, dir) {
		return dir, true
	}
	below := path.Base(dir) == "schema" || strings.HasSuffix(dir, "test")
	return path.Dir(dir), below && slices.Contains(t.Folders, path.Dir(dir))
}

// imports returns the import paths of a file; none if it is no Go file.
func imports(file File) (paths []string) {
	f, err := parser.ParseFile(token.NewFileSet(), file.Path, file.Data, parser.ImportsOnly)
	if err != nil {
		return nil
	}
	for _, spec := range f.Imports {
		imported, _ := strconv.Unquote(spec.Path.Value)
		paths = append(paths, imported)
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
