package tree

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// Loadable returns an error that names a pipe, or the like, which the go command
// would open, and wait for its other end: in the place of a Go file of the module,
// of its list of vendored modules, or of a workspace file at or above the module.
func (m *Module) Loadable() error {
	root, err := os.OpenRoot(m.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	f := &files{root: root}
	err = fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil: // the go command says so, where it matters
			return nil
		case entry.IsDir() && name != "." && f.passedOver(name):
			return fs.SkipDir
		case entry.IsDir() || entry.Type().IsRegular() || path.Ext(name) != ".go":
			return nil
		}
		return readable(filepath.Join(m.Dir, name))
	})
	names := []string{filepath.Join(m.Dir, "go.sum"), filepath.Join(m.Dir, "vendor", "modules.txt")}
	for dir := m.Dir; ; dir = filepath.Dir(dir) {
		names = append(names, filepath.Join(dir, "go.work"), filepath.Join(dir, "go.work.sum"))
		if dir == filepath.Dir(dir) {
			break
		}
	}
	for _, name := range names {
		if err == nil {
			err = readable(name)
		}
	}
	return err
}

// readable returns an error if name is neither a regular file nor a directory. What
// cannot be looked at is for the go command to report.
func readable(name string) error {
	info, err := os.Stat(name)
	if err != nil || info.IsDir() {
		return nil
	}
	return regular(name, info)
}
