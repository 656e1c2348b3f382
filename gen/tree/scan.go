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

// scan returns what stands in the module: folders with an owners.yaml, and all
// generated files. A folder that cannot be read is passed over and listed.
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

// standing adds to tree what is at the paths of the states' files.
func standing(root *os.Root, tree *gen.Tree, states []gen.State) error {
	for _, s := range states {
		for _, file := range s.Files {
			if link := linked(root, s.Folder, file.Path); link != "" {
				return fmt.Errorf("%s is a symbolic link, so that %s would be written elsewhere, in the place of another file or below another home: put a folder in its place", link, file.Path)
			}
			if err := take(root, tree, file.Path); err != nil {
				return err
			}
		}
	}
	return nil
}

// linked returns the symbolic link by which one comes to the file name from the
// state's folder or, if it is elsewhere, from the module root; or "".
func linked(root *os.Root, folder, name string) (link string) {
	for dir := path.Dir(name); dir != "." && dir != folder; dir = path.Dir(dir) {
		if info, err := root.Lstat(dir); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			link = dir
		}
	}
	return link
}

// longest is more bytes than a generated file of the largest declaration has.
const longest = 64 << 20

// take adds the file name to tree, if it is there. Of what is no regular file
// nothing is read: a pipe would wait for a writer. Neither is one that is too
// long to be generated.
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

// dropAliases takes from plans what is to be removed and is, on a disk that
// ignores case, a file of one of the states by another spelling.
func dropAliases(root *os.Root, plans []*gen.Plan, states []gen.State) {
	alias := func(orphan, file gen.File) bool {
		if !strings.EqualFold(orphan.Path, file.Path) {
			return false
		}
		one, errOne := root.Stat(orphan.Path)
		other, errOther := root.Stat(file.Path)
		return errOne == nil && errOther == nil && os.SameFile(one, other)
	}
	for _, plan := range plans {
		plan.Remove = slices.DeleteFunc(plan.Remove, func(orphan gen.File) bool {
			return slices.ContainsFunc(states, func(s gen.State) bool {
				return slices.ContainsFunc(s.Files, func(file gen.File) bool { return alias(orphan, file) })
			})
		})
	}
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
