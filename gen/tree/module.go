// Package tree puts generated files into a module: it finds the module around
// an owners.yaml, plans the changes of its files with package gen, type-checks
// them and carries them out. It never changes a file that Freehold did not
// generate: an error names such a file in the way.
package tree

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/mod/modfile"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/schema/declare"
)

// Declaration is the name of the file that declares a state. It is fixed: the
// mark of a generated file names it, and [Module.Plans] finds removed states by
// its absence.
const Declaration = "owners.yaml"

// A Module is a Go module on disk.
type Module struct {
	// Dir is the module root, absolute.
	Dir string
	// Path is the module's import path.
	Path string
}

// Find returns the module around the directory dir. It returns an error if
// there is none.
func Find(dir string) (*Module, error) {
	start, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		file := filepath.Join(dir, "go.mod")
		text, err := Read(file)
		if err == nil {
			name := modfile.ModulePath(text)
			if name == "" {
				return nil, fmt.Errorf("%s: no module path: add a line `module example.com/you/project`", file)
			}
			return &Module{Dir: dir, Path: name}, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if dir == filepath.Dir(dir) {
			return nil, fmt.Errorf("%s is in no Go module: run `go mod init example.com/you/project` in your project's root", start)
		}
	}
}

// Load reads the declaration in file, an owners.yaml in this module. Errors
// name the file as the caller does. It returns [declare.Problems] if the
// declaration has mistakes.
func (m *Module) Load(file string) (*declare.Source, error) {
	if filepath.Base(file) != Declaration {
		return nil, fmt.Errorf("%s: a declaration has the name %s, because generated files say so: rename it", file, Declaration)
	}
	folder, err := m.folder(file)
	if err != nil {
		return nil, err
	}
	text, err := Read(file)
	if err != nil {
		return nil, err
	}
	return declare.Parse(file, folder, text)
}

// Read returns the text of file, an owners.yaml or another file of a module. It
// returns an error if the file is not a regular file, without waiting for a pipe,
// or longer than a manifest may be.
func Read(file string) ([]byte, error) {
	if info, err := os.Stat(file); err == nil {
		if err := regular(file, info); err != nil { // a socket cannot be opened, and a device may act on it
			return nil, err
		}
	}
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil {
		err = regular(file, info)
	}
	switch {
	case err != nil:
		return nil, err
	case info.Size() > schema.MaxManifest:
		return nil, fmt.Errorf("%s has %d bytes, more than the %d allowed: divide the state into several", file, info.Size(), schema.MaxManifest)
	}
	return io.ReadAll(io.LimitReader(f, schema.MaxManifest))
}

// regular returns an error if the file of info is none that a program can read to
// its end: a pipe would wait.
func regular(file string, info fs.FileInfo) error {
	if info.Mode().IsRegular() {
		return nil
	}
	return fmt.Errorf("%s is not a regular file: move it", file)
}

// folder returns the folder of file as a slash path relative to the module
// root.
func (m *Module) folder(file string) (string, error) {
	dir, err := filepath.Abs(filepath.Dir(file))
	if err != nil {
		return "", err
	}
	folder, err := filepath.Rel(m.Dir, dir)
	if err != nil {
		return "", err
	}
	if !filepath.IsLocal(folder) {
		return "", fmt.Errorf("%s is not in the module %s at %s: run this in the module of that file", file, m.Path, m.Dir)
	}
	return filepath.ToSlash(folder), nil
}
