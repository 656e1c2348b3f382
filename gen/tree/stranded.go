package tree

import (
	"bytes"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/gen"
)

// A stranded names a Go file that imports a writer package that no owners.yaml
// makes: the owner is gone, or has another home, and its program is still there.
type stranded struct {
	File    string // slash path, relative to the module root
	Package string // the same, of the writer package
	Owner   string
}

// strandedFiles returns the stranded files of the module once plans are carried out,
// sorted.
func (f *files) strandedFiles(plans []*Plan) []stranded {
	gone := map[string]bool{}
	for _, plan := range plans {
		for _, file := range plan.Remove {
			gone[file.Path] = true
		}
	}
	var found []stranded
	for _, name := range f.programs {
		data := f.head(name)
		if !bytes.Contains(data, []byte("/internal/")) {
			continue
		}
		for _, imported := range imports(gen.File{Path: name, Data: data}) {
			dir, ok := strings.CutPrefix(imported, f.module+"/")
			if owner, isWriter := f.lostWriter(dir, gone); ok && isWriter {
				found = append(found, stranded{name, dir, owner})
			}
		}
	}
	return found
}

// lostWriter returns the owner of the writer package in the folder dir, if it is
// one of those gone. A package that was gone before is known by its name alone,
// HOME/internal/OWNERfile, and only in the home that an owner has by default:
// other programs may have an internal/logfile that another tool still has to make.
func (f *files) lostWriter(dir string, gone map[string]bool) (owner string, ok bool) {
	owner, ok = strings.CutSuffix(path.Base(dir), "file")
	home, isInternal := strings.CutSuffix(path.Dir(dir), "/internal")
	if !ok || !isInternal || f.hasGo(dir, gone) {
		return "", false
	}
	return owner, gone[path.Join(dir, path.Base(dir)+".go")] || path.Base(home) == owner
}

// hasGo reports whether the folder dir has a Go file, other than those gone, or will
// have a generated one.
func (f *files) hasGo(dir string, gone map[string]bool) bool {
	generated := path.Join(dir, path.Base(dir)+".go")
	if f.accounted[generated] && !gone[generated] {
		return true
	}
	d, err := f.root.Open(dir)
	if err != nil {
		return false
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	return slices.ContainsFunc(names, func(name string) bool { return path.Ext(name) == ".go" && !gone[path.Join(dir, name)] })
}

// head returns the beginning of a file, which holds the imports of a Go file.
func (f *files) head(name string) []byte {
	file, err := f.root.Open(name)
	if err != nil {
		return nil
	}
	defer file.Close()
	data, _ := io.ReadAll(io.LimitReader(file, 1<<16))
	return data
}
