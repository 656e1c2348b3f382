package tree

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path"

	"github.com/freehold-dev/freehold/gen"
)

// Apply carries out plan: it removes orphans and the directories that they
// leave empty, then replaces files, each as a whole. Nothing that it writes is
// in the way of what it removes, nor can be removed by a plan made together
// with this one. After an error some files are old and some new; Plan says
// which, and Apply may be called again.
func (m *Module) Apply(plan *gen.Plan) error {
	root, err := os.OpenRoot(m.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, file := range plan.Remove {
		if err := root.Remove(file.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		removeEmpty(root, path.Dir(file.Path))
	}
	for _, c := range plan.Write {
		if err := replace(root, c.Path, c.New); err != nil {
			return err
		}
	}
	return nil
}

// replace writes a file beside name and renames it to name. Generated files
// need no sync: they can be generated again. Package renameio, which writes
// the sidecars, does not build on every platform that develops Go.
func replace(root *os.Root, name string, data []byte) error {
	if err := root.MkdirAll(path.Dir(name), 0o777); err != nil {
		return err
	}
	temp := path.Join(path.Dir(name), "."+path.Base(name)+"."+rand.Text())
	if err := root.WriteFile(temp, data, 0o666); err != nil {
		return errors.Join(err, root.Remove(temp))
	}
	if err := root.Rename(temp, name); err != nil {
		return errors.Join(err, root.Remove(temp))
	}
	return nil
}

// removeEmpty removes dir and the directories above it as long as they are
// empty.
func removeEmpty(root *os.Root, dir string) {
	for dir != "." && root.Remove(dir) == nil {
		dir = path.Dir(dir)
	}
}
