package sidecarpath

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/freehold-dev/freehold/gen/tree"
	"github.com/freehold-dev/freehold/schema/declare"
)

// An owner is one that an owners.yaml declares.
type owner struct {
	name, home string
	file       string // that declares it, relative to the module root
}

// declared returns the owners that are declared in the module of the Go file
// named, by the names of their sidecars. A declaration with mistakes declares
// nothing here: generating says what they are.
func declared(goFile string) map[string]owner {
	owners := map[string]owner{}
	module, err := tree.Find(filepath.Dir(goFile))
	if err != nil {
		return owners
	}
	fs.WalkDir(os.DirFS(module.Dir), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil: // a directory that cannot be read holds no declaration
			return fs.SkipDir
		case entry.IsDir() && name != "." && skipped(module.Dir, name):
			return fs.SkipDir
		case !entry.IsDir() && path.Base(name) == tree.Declaration:
			if src, err := module.Load(filepath.Join(module.Dir, filepath.FromSlash(name))); err == nil {
				add(owners, src, name)
			}
		}
		return nil
	})
	return owners
}

func add(owners map[string]owner, src *declare.Source, file string) {
	for name, o := range src.Declaration.Owners {
		owners[name+".json"] = owner{name, o.Home, file}
	}
}

// skipped reports whether the directory belongs to somebody else, as Go's
// tools see it.
func skipped(root, name string) bool {
	base := path.Base(name)
	if base == "vendor" || base == "testdata" || base == "node_modules" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
		return true
	}
	_, err := os.Stat(filepath.Join(root, filepath.FromSlash(name), "go.mod"))
	return err == nil
}
