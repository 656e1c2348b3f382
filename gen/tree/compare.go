package tree

import (
	"bytes"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/freehold-dev/freehold/gen"
)

// A Plan makes the files of one state current. [Module.Apply] carries it out.
type Plan struct {
	// Write lists the files that are missing or differ, sorted.
	Write []change
	// Remove lists the generated files that no declaration makes, sorted.
	Remove []gen.File
	// Keep lists the files that are current, sorted.
	Keep []string
	// Skipped lists the folders that could not be searched for generated files.
	Skipped []string
}

// A change is one file to be written.
type change struct {
	Path string // slash-separated, relative to the module root
	Old  []byte // nil if there is no such file
	New  []byte
	// Mode has the permissions of the old file, if a generated file has other
	// ones.
	Mode *fs.FileMode
}

// Diff returns the changes of the plan as a unified diff, with permissions as
// git shows them.
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

func (c change) diff() []byte {
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

// A comparison is of the files of a module with those of all its states.
type comparison struct {
	*files
	made     map[string]bool // the paths of the files that the states make
	known    map[string]bool // the folders of the states
	problems []error
}

// compare plans the changes that make all files of states current. The files
// of others, the further states of the module, stay. A plan removes the files
// that its owners.yaml made and no longer makes. The first plan also removes
// files of no owners.yaml, unless the module may have a state that is in
// neither list. The error names all files in the way that Freehold did not
// generate, or that belong to another state.
func compare(now *files, states, others []state) ([]*Plan, error) {
	c := &comparison{files: now, made: map[string]bool{}, known: map[string]bool{}}
	for _, s := range slices.Concat(others, states) {
		c.known[s.folder] = true
		for _, file := range s.files {
			c.made[file.Path] = true
		}
	}
	var plans []*Plan
	for _, s := range states {
		plans = append(plans, c.plan(s))
	}
	if len(plans) > 0 {
		plans[0].Skipped = c.skipped
		c.planRemovals(states, plans)
	}
	return plans, errors.Join(c.problems...)
}

// plan plans the writing of one state's files.
func (c *comparison) plan(s state) *Plan {
	plan := new(Plan)
	for _, file := range s.files {
		change := change{Path: file.Path, New: file.Data}
		if old, exists := c.data[file.Path]; exists {
			change.Old, change.Mode = old, c.oddMode(file.Path)
			if err := c.mayReplace(s.folder, gen.File{Path: file.Path, Data: old}); err != nil {
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
func (c *comparison) planRemovals(states []state, plans []*Plan) {
	allKnown := len(c.skipped) == 0 && !slices.ContainsFunc(c.folders, func(folder string) bool { return !c.known[folder] })
	for _, name := range slices.Sorted(maps.Keys(c.data)) {
		file := gen.File{Path: name, Data: c.data[name]}
		if c.made[name] || !gen.Generated(name, file.Data) || c.isAlias(name) {
			continue
		}
		origin, ok := c.origin(file)
		i := slices.IndexFunc(states, func(s state) bool { return s.folder == origin })
		if !ok && allKnown {
			i = 0
		}
		if i >= 0 {
			plans[i].Remove = append(plans[i].Remove, file)
		}
	}
}

// isAlias reports whether name is another spelling of a file that a state
// makes, on a disk that ignores case.
func (c *comparison) isAlias(name string) bool {
	for made := range c.made {
		if strings.EqualFold(made, name) {
			one, errOne := c.root.Stat(name)
			other, errOther := c.root.Stat(made)
			return errOne == nil && errOther == nil && os.SameFile(one, other)
		}
	}
	return false
}

// mayReplace returns an error if the state in folder must not replace file. A
// file that another state of the module made and no longer makes may change
// hands.
func (c *comparison) mayReplace(folder string, file gen.File) error {
	if !gen.Generated(file.Path, file.Data) {
		return fmt.Errorf("%s is in the way, and Freehold did not generate it: move it", file.Path)
	}
	if origin, ok := c.origin(file); ok && origin != folder && !c.known[origin] {
		return fmt.Errorf("%s is in the way, generated from %s, which has mistakes and may still make it: mend them first",
			file.Path, path.Join(origin, Declaration))
	}
	return nil
}

// oddMode returns the file's permissions if its user may execute or not read
// the file. Permissions of others do not matter to Freehold.
func (c *comparison) oddMode(name string) *fs.FileMode {
	mode, ok := c.modes[name]
	if !ok || mode&0o111 == 0 && mode&0o400 != 0 {
		return nil
	}
	return &mode
}

// origin returns the folder of the owners.yaml that made a generated file, if
// that owners.yaml still exists. The mark names no path, so that files may
// move. But writer and test packages import the view package, which is the
// folder, and the other files are in the folder or one below.
func (c *comparison) origin(file gen.File) (folder string, ok bool) {
	for _, imported := range imports(file) {
		for _, folder := range c.folders {
			if imported == path.Join(c.module, folder) {
				return folder, true
			}
		}
	}
	dir := path.Dir(file.Path)
	if slices.Contains(c.folders, dir) {
		return dir, true
	}
	below := path.Base(dir) == "schema" || strings.HasSuffix(dir, "test")
	return path.Dir(dir), below && slices.Contains(c.folders, path.Dir(dir))
}

// imports returns the import paths of a file; none if it is no Go file.
func imports(file gen.File) (paths []string) {
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
