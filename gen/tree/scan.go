package tree

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/gen"
	"github.com/freehold-dev/freehold/schema/declare"
)

// A files has the generated files of a module, by slash path relative to its root.
type files struct {
	root    *os.Root
	module  string   // the module's path
	folders []string // with an owners.yaml
	// data has all generated files, and any other file at the path of a file to
	// be written. modes has their permissions, as far as they are known.
	data    map[string][]byte
	modes   map[string]fs.FileMode
	skipped []string // folders that could not be read
	// programs are the Go files that are not generated.
	programs []string
	// known has the folders of all states that can be generated, accounted the
	// files that they make and those that plans remove.
	known, accounted map[string]bool
}

// scan finds the generated files of the module. Close must be called.
func (m *Module) scan() (*files, error) {
	root, err := os.OpenRoot(m.Dir)
	if err != nil {
		return nil, err
	}
	f := &files{root: root, module: m.Path, data: map[string][]byte{}, modes: map[string]fs.FileMode{},
		known: map[string]bool{}, accounted: map[string]bool{}}
	err = fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil && name == ".":
			return err
		case err != nil:
			f.skipped = append(f.skipped, name)
		case entry.IsDir() && name != "." && f.passedOver(name):
			return fs.SkipDir
		case path.Base(name) == Declaration: // a link is as good; Load refuses a directory by name
			f.folders = append(f.folders, path.Dir(name))
		case entry.Type().IsRegular() && f.generated(name):
			return f.add(name)
		case entry.Type().IsRegular() && path.Ext(name) == ".go":
			f.programs = append(f.programs, name)
		}
		return nil
	})
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return f, nil
}

// addAll adds the files at the paths of the states' files. It returns an error
// if one of the paths leads through a symbolic link.
func (f *files) addAll(states []state) error {
	for _, s := range states {
		for _, file := range s.files {
			for dir := path.Dir(file.Path); dir != "." && dir != s.folder; dir = path.Dir(dir) {
				if info, err := f.root.Lstat(dir); err == nil && info.Mode()&fs.ModeSymlink != 0 {
					return fmt.Errorf("%s is a symbolic link, so that %s would be written elsewhere, in the place of another file or below another home: put a folder in its place", dir, file.Path)
				}
			}
			if err := f.add(file.Path); err != nil {
				return err
			}
		}
	}
	return nil
}

// longest is more bytes than a generated file of the largest declaration has.
const longest = 64 << 20

// add adds a file, if it exists. It does not read a file that is not regular,
// because a pipe would wait, nor one that is too long to be generated.
func (f *files) add(name string) error {
	info, err := f.root.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	f.data[name] = nil
	if info.Mode().IsRegular() && info.Size() <= longest {
		f.modes[name] = info.Mode()
		f.data[name], err = f.root.ReadFile(name)
	}
	return err
}

// passedOver reports whether Go's tools pass over the directory name, or
// another module has it.
func (f *files) passedOver(name string) bool {
	if PassedOver(path.Base(name)) {
		return true
	}
	_, err := f.root.Stat(path.Join(name, "go.mod"))
	return err == nil
}

// PassedOver reports whether Go's tools pass over a directory with the base name.
func PassedOver(base string) bool {
	return base == "vendor" || base == "testdata" || base == "node_modules" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")
}

// generated reports whether name is a generated file. It reads the first bytes
// only, because a module may be large.
func (f *files) generated(name string) bool {
	if !slices.Contains([]string{".go", ".md", ".json"}, path.Ext(name)) {
		return false
	}
	file, err := f.root.Open(name)
	if err != nil {
		return false
	}
	defer file.Close()
	head := make([]byte, 256) // gen.Generated looks at no more
	n, err := io.ReadFull(file, head)
	return (err == nil || errors.Is(err, io.ErrUnexpectedEOF)) && gen.Generated(name, head[:n])
}

// others reads the declarations in folders except those of srcs. It leaves out
// declarations with mistakes.
func (m *Module) others(folders []string, srcs []*declare.Source) []*declare.Source {
	var others []*declare.Source
	for _, folder := range folders {
		if slices.ContainsFunc(srcs, func(src *declare.Source) bool { return path.Clean(src.Folder) == folder }) {
			continue
		}
		text, err := Read(filepath.Join(m.Dir, filepath.FromSlash(folder), Declaration))
		if err != nil {
			continue
		}
		if src, err := declare.Parse(path.Join(folder, Declaration), folder, text); err == nil {
			others = append(others, src)
		}
	}
	return others
}
