package gen

import (
	"bytes"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
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
}

// A Plan is what makes the files of one state current. It is data: package
// gen/tree carries it out.
type Plan struct {
	// Write lists the files that are missing or differ, sorted.
	Write []Change
	// Remove lists generated files that no declaration makes any more, with
	// their content, sorted.
	Remove []File
	// Keep lists the files that are as they should be, sorted.
	Keep []string
}

// A Change is a file that is to be written.
type Change struct {
	Path string // slash-separated, relative to the module root
	Old  []byte // nil if there is no such file
	New  []byte
}

// Compare plans what it takes to have the files want, which [Generate] made
// for the owners.yaml in folder. It plans to remove those generated files of
// tree that belonged to this owners.yaml or belong to none; those of other
// states stay. It returns an error that names every file in the way which
// Freehold did not generate, or generates for another state.
func Compare(folder string, want []File, tree *Tree) (*Plan, error) {
	plan, wanted := new(Plan), map[string]bool{}
	var problems []error
	for _, file := range want {
		wanted[file.Path] = true
		old, exists := tree.Files[file.Path]
		if exists {
			problems = append(problems, tree.mayReplace(folder, File{file.Path, old}))
		}
		if exists && bytes.Equal(old, file.Data) {
			plan.Keep = append(plan.Keep, file.Path)
			continue
		}
		plan.Write = append(plan.Write, Change{file.Path, old, file.Data})
	}
	for _, name := range slices.Sorted(maps.Keys(tree.Files)) {
		file := File{name, tree.Files[name]}
		if wanted[name] || !Generated(name, file.Data) {
			continue
		}
		if origin, ok := tree.origin(file); !ok || origin == folder {
			plan.Remove = append(plan.Remove, file)
		}
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return plan, nil
}

func (t *Tree) mayReplace(folder string, file File) error {
	if !Generated(file.Path, file.Data) {
		return fmt.Errorf("%s is in the way, and Freehold did not generate it: move it", file.Path)
	}
	if origin, ok := t.origin(file); ok && origin != folder {
		return fmt.Errorf("%s is also generated from %s: rename one of the owners or give it another home; if it has moved from there, generate that state first",
			file.Path, path.Join(origin, "owners.yaml"))
	}
	return nil
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

// Current reports whether there is nothing to do.
func (p *Plan) Current() bool { return len(p.Write) == 0 && len(p.Remove) == 0 }

// Summary has a line for each file that is not as it should be: "missing",
// "changed" or "orphaned", and its path.
func (p *Plan) Summary() string {
	var b strings.Builder
	for _, c := range p.Write {
		what := "changed"
		if c.Old == nil {
			what = "missing"
		}
		fmt.Fprintf(&b, "%-8s %s\n", what, c.Path)
	}
	for _, file := range p.Remove {
		fmt.Fprintf(&b, "orphaned %s\n", file.Path)
	}
	return b.String()
}

// Diff returns what carrying out the plan would change as a unified diff.
func (p *Plan) Diff() []byte {
	var b bytes.Buffer
	for _, c := range p.Write {
		if c.Old == nil {
			b.Write(diff.Diff("/dev/null", nil, "b/"+c.Path, c.New))
		} else {
			b.Write(diff.Diff("a/"+c.Path, c.Old, "b/"+c.Path, c.New))
		}
	}
	for _, file := range p.Remove {
		b.Write(diff.Diff("a/"+file.Path, file.Data, "/dev/null", nil))
	}
	return b.Bytes()
}
