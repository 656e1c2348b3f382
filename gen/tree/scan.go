package tree

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/gen"
)

// scan returns the folders of the module with an owners.yaml, and all
// generated files. A folder that cannot be read is listed as skipped.
func scan(root *os.Root, module string) (*gen.Tree, error) {
	tree := &gen.Tree{Module: module, Files: map[string][]byte{}, Modes: map[string]fs.FileMode{}}
	err := fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil && name == ".":
			return err
		case err != nil:
			tree.Skipped = append(tree.Skipped, name)
		case entry.IsDir() && name != "." && skipped(root, name):
			return fs.SkipDir
		case !entry.IsDir() && path.Base(name) == Declaration: // a link is as good
			tree.Folders = append(tree.Folders, path.Dir(name))
		case entry.Type().IsRegular() && generated(root, name):
			return take(root, tree, name)
		}
		return nil
	})
	return tree, err
}

// takeAll adds to tree the files at the paths of the states' files. It returns
// an error if one of the paths leads through a symbolic link.
func takeAll(root *os.Root, tree *gen.Tree, states []gen.State) error {
	for _, s := range states {
		for _, file := range s.Files {
			for dir := path.Dir(file.Path); dir != "." && dir != s.Folder; dir = path.Dir(dir) {
				if info, err := root.Lstat(dir); err == nil && info.Mode()&fs.ModeSymlink != 0 {
					return fmt.Errorf("%s is a symbolic link, so that %s would be written elsewhere, in the place of another file or below another home: put a folder in its place", dir, file.Path)
				}
			}
			if err := take(root, tree, file.Path); err != nil {
				return err
			}
		}
	}
	return nil
}

// longest is more bytes than a generated file of the largest declaration has.
const longest = 64 << 20

// take adds the file name to tree, if it is there. It does not read a file that
// is not regular, because a pipe would wait, nor one that is too long to be
// generated.
func take(root *os.Root, tree *gen.Tree, name string) error {
	info, err := root.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	tree.Files[name] = nil
	if info.Mode().IsRegular() && info.Size() <= longest {
		tree.Modes[name] = info.Mode()
		tree.Files[name], err = root.ReadFile(name)
	}
	return err
}

// dropAliases keeps plans from removing a file of one of the states by another
// spelling, on a disk that ignores case.
func dropAliases(root *os.Root, plans []*gen.Plan, states []gen.State) {
	paths := map[string]string{} // by the lower-case path
	for _, s := range states {
		for _, file := range s.Files {
			paths[strings.ToLower(file.Path)] = file.Path
		}
	}
	for _, plan := range plans {
		plan.Remove = slices.DeleteFunc(plan.Remove, func(orphan gen.File) bool {
			one, errOne := root.Stat(orphan.Path)
			other, errOther := root.Stat(paths[strings.ToLower(orphan.Path)])
			return errOne == nil && errOther == nil && os.SameFile(one, other)
		})
	}
}

// skipped reports whether Go's tools pass over the directory name, or another
// module has it.
func skipped(root *os.Root, name string) bool {
	base := path.Base(name)
	if base == "vendor" || base == "testdata" || base == "node_modules" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
		return true
	}
	_, err := root.Stat(path.Join(name, "go.mod"))
	return err == nil
}

// generated reports whether name is a generated file. It reads the first bytes
// only, because a module may be large.
func generated(root *os.Root, name string) bool {
	switch path.Ext(name) {
	case ".go", ".md", ".json":
	default:
		return false
	}
	f, err := root.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, gen.MarkWithin)
	n, err := io.ReadFull(f, head)
	return (err == nil || errors.Is(err, io.ErrUnexpectedEOF)) && gen.Generated(name, head[:n])
}
