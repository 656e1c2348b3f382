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
	// Stranded lists the programs of the module that import the writer package of
	// an owner that is gone; only the first of several plans has them.
	Stranded []stranded
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

// compare plans the changes that make all files of states current. The files
// of others, the further states of the module, stay. A plan removes the files
// that its owners.yaml made and no longer makes. The first plan also removes
// files of no owners.yaml, unless the module may have a state that is in
// neither list. The error names all files in the way that Freehold did not
// generate, or that belong to another state.
func (f *files) compare(states, others []state) ([]*Plan, error) {
	for _, s := range slices.Concat(others, states) {
		f.known[s.folder] = true
		for _, file := range s.files {
			f.accounted[file.Path] = true
		}
	}
	var plans []*Plan
	var problems []error
	for _, s := range states {
		plan, err := f.plan(s)
		plans, problems = append(plans, plan), append(problems, err)
	}
	if len(plans) > 0 {
		plans[0].Skipped = f.skipped
		f.planRemovals(states, plans)
		plans[0].Stranded = f.strandedFiles(plans)
	}
	return plans, errors.Join(problems...)
}

// plan plans the writing of one state's files.
func (f *files) plan(s state) (*Plan, error) {
	plan := new(Plan)
	var problems []error
	for _, file := range s.files {
		change := change{Path: file.Path, New: file.Data}
		if old, exists := f.data[file.Path]; exists {
			change.Old, change.Mode = old, f.oddMode(file.Path)
			problems = append(problems, f.mayReplace(s.folder, gen.File{Path: file.Path, Data: old}))
			if bytes.Equal(old, file.Data) && change.Mode == nil {
				plan.Keep = append(plan.Keep, file.Path)
				continue
			}
		}
		plan.Write = append(plan.Write, change)
	}
	return plan, errors.Join(problems...)
}

// planRemovals adds the generated files that no state makes to the plans.
func (f *files) planRemovals(states []state, plans []*Plan) {
	allKnown := len(f.skipped) == 0 && !slices.ContainsFunc(f.folders, func(folder string) bool { return !f.known[folder] })
	for _, name := range slices.Sorted(maps.Keys(f.data)) {
		file := gen.File{Path: name, Data: f.data[name]}
		if f.accounted[name] || !gen.Generated(name, file.Data) || f.isAlias(name) {
			continue
		}
		origin, ok := f.origin(file)
		i := slices.IndexFunc(states, func(s state) bool { return s.folder == origin })
		if !ok && allKnown {
			i = 0
		}
		if i >= 0 {
			plans[i].Remove = append(plans[i].Remove, file)
			f.accounted[name] = true
		}
	}
}

// isAlias reports whether name is another spelling of a file that a state
// makes, on a disk that ignores case.
func (f *files) isAlias(name string) bool {
	for other := range f.accounted {
		if strings.EqualFold(other, name) {
			one, errOne := f.root.Stat(name)
			two, errTwo := f.root.Stat(other)
			if errOne == nil && errTwo == nil && os.SameFile(one, two) {
				return true
			}
		}
	}
	return false
}

// mayReplace returns an error if the state in folder must not replace file. A
// file that another state of the module made and no longer makes may change
// hands.
func (f *files) mayReplace(folder string, file gen.File) error {
	if !gen.Generated(file.Path, file.Data) {
		return fmt.Errorf("%s is in the way, and Freehold did not generate it: move it", file.Path)
	}
	if origin, ok := f.origin(file); ok && origin != folder && !f.known[origin] {
		return fmt.Errorf("%s is in the way, generated from %s, which has mistakes and may still make it: mend them first",
			file.Path, path.Join(origin, Declaration))
	}
	return nil
}

// oddMode returns the file's permissions if its user may execute or not read
// the file. Permissions of others do not matter to Freehold.
func (f *files) oddMode(name string) *fs.FileMode {
	mode, ok := f.modes[name]
	if !ok || mode&0o111 == 0 && mode&0o400 != 0 {
		return nil
	}
	return &mode
}

// origin returns the folder of the owners.yaml that made a generated file, if
// that owners.yaml still exists. The mark names no path, so that files may
// move. But writer and test packages import the view package, which is the
// folder, and the other files are in the folder or one below.
func (f *files) origin(file gen.File) (folder string, ok bool) {
	for _, imported := range imports(file) {
		for _, folder := range f.folders {
			if imported == path.Join(f.module, folder) {
				return folder, true
			}
		}
	}
	dir := path.Dir(file.Path)
	if slices.Contains(f.folders, dir) {
		return dir, true
	}
	below := path.Base(dir) == "schema" || strings.HasSuffix(dir, "test")
	return path.Dir(dir), below && slices.Contains(f.folders, path.Dir(dir))
}

// imports returns the import paths of a file; none if it is no Go file.
func imports(file gen.File) (paths []string) {
	parsed, err := parser.ParseFile(token.NewFileSet(), file.Path, file.Data, parser.ImportsOnly)
	if err != nil {
		return nil
	}
	for _, spec := range parsed.Imports {
		imported, _ := strconv.Unquote(spec.Path.Value)
		paths = append(paths, imported)
	}
	return paths
}
