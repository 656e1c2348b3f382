package tree

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/gen"
)

// scan returns what stands in the module: folders with an owners.yaml, all
// generated files, and the files that are at the paths of want.
func scan(root *os.Root, module string, want []gen.File) (*gen.Tree, error) {
	tree := &gen.Tree{Module: module, Files: map[string][]byte{}}
	for _, file := range want {
		text, err := root.ReadFile(file.Path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		tree.Files[file.Path] = text
	}
	err := fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && skipped(root, name):
			return fs.SkipDir
		case !entry.IsDir() && path.Base(name) == Declaration: // a link is as good
			tree.Folders = append(tree.Folders, path.Dir(name))
		case entry.Type().IsRegular() && generated(root, name):
			tree.Files[name], err = root.ReadFile(name)
		}
		return err
	})
	return tree, err
}

// dropAliases takes from plan what is to be removed and is, on a disk that
// ignores case, a wanted file by another spelling.
func dropAliases(root *os.Root, plan *gen.Plan, want []gen.File) {
	plan.Remove = slices.DeleteFunc(plan.Remove, func(orphan gen.File) bool {
		return slices.ContainsFunc(want, func(file gen.File) bool {
			if !strings.EqualFold(orphan.Path, file.Path) {
				return false
			}
			one, errOne := root.Stat(orphan.Path)
			other, errOther := root.Stat(file.Path)
			return errOne == nil && errOther == nil && os.SameFile(one, other)
		})
	})
}

// skipped reports whether the directory name belongs to somebody else: Go's
// tools pass over it, or it is another module.
func skipped(root *os.Root, name string) bool {
	base := path.Base(name)
	if base == "vendor" || base == "testdata" || base == "node_modules" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
		return true
	}
	_, err := root.Stat(path.Join(name, "go.mod"))
	return err == nil
}

// generated reports whether name is a generated file, from the first bytes: a
// module may be large. A file that cannot be read is not one of ours.
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
