// Package gen turns a declaration into files: a writer package for each owner,
// a view package and a test package for the state, JSON schemas and the
// ownership matrix. It touches no disk and returns the same bytes on every
// machine; package [github.com/freehold-dev/freehold/gen/tree] reads and
// writes a module.
package gen

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"golang.org/x/mod/module"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/schema/declare"
)

// A File is one generated file.
type File struct {
	// Path is slash-separated and relative to the module root.
	Path string
	// Data is the whole content; lines end in "\n".
	Data []byte
}

// Generate returns all files of a declaration, sorted by path, in the module
// with the path modulePath. It returns an error if Go could not import a
// package at its place.
func Generate(src *declare.Source, modulePath string) ([]File, error) {
	s := newState(src, modulePath)
	if err := s.checkFolders(modulePath); err != nil {
		return nil, fmt.Errorf("%s: %w", src.File, err)
	}
	var files []File
	var problems []error
	add := func(more []File, err error) { files, problems = append(files, more...), append(problems, err) }
	add(s.viewPackage())
	add(s.testPackage())
	add(s.matrix())
	text, err := declare.ViewSchema(s.declared)
	add(s.schema("view", text, err))
	add(s.schema("owners", schema.OwnersSchema, nil)) // of this release, for editors
	for _, o := range s.Owners {
		add(s.writerPackage(o))
		text, err := declare.SidecarSchema(s.declared, o.Name)
		add(s.schema(o.Name, text, err))
		text, err = declare.PatchSchema(s.declared, o.Name)
		add(s.schema(o.Name+".patch", text, err))
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return files, errors.Join(problems...)
}

// WriterPackages returns the import paths of a declaration's writer packages,
// sorted, in the module with the path modulePath.
func WriterPackages(src *declare.Source, modulePath string) []string {
	var paths []string
	for _, o := range newState(src, modulePath).Owners {
		paths = append(paths, path.Join(modulePath, o.dir))
	}
	slices.Sort(paths)
	return paths
}

// checkFolders reports all packages that Go would not build or import.
func (s *state) checkFolders(modulePath string) error {
	problems := []error{checkFolder(modulePath, s.folder)}
	// Only packages below the parent of an internal directory may import those in it.
	above := s.folder[:max(0, strings.LastIndex("/"+s.folder+"/", "/internal/")-1)]
	for _, o := range s.Owners {
		problems = append(problems, checkFolder(modulePath, o.dir))
		if above != "" && !strings.HasPrefix(o.dir+"/", above+"/") {
			problems = append(problems, fmt.Errorf("owner %s has its home in %s, which may not import the view package in %s: move owners.yaml out of the internal directory, or the home below %s",
				o.Name, o.Home, s.folder, above))
		}
	}
	return errors.Join(problems...)
}

// checkFolder returns an error if Go does not import the package in dir, a
// slash path relative to the module root.
func checkFolder(modulePath, dir string) error {
	if err := module.CheckImportPath(path.Join(modulePath, dir)); err != nil {
		return fmt.Errorf("Go cannot import a package from the folder %s: %w: rename the folder", dir, err)
	}
	for _, elem := range strings.Split(dir, "/") {
		if elem == "vendor" || elem == "testdata" || strings.HasPrefix(elem, "_") || strings.HasPrefix(elem, ".") && elem != "." {
			return fmt.Errorf("Go ignores packages below %s, in %s: rename the owner or give it another home", elem, dir)
		}
	}
	return nil
}

// schema marks a JSON schema as generated, in the member that JSON Schema has
// for comments.
func (s *state) schema(name string, text []byte, err error) ([]File, error) {
	file := path.Join(s.folder, "schema", name+".schema.json")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	mark := []byte("{\n  \"$comment\": \"" + generated + "\",\n")
	return []File{{Path: file, Data: append(mark, bytes.TrimPrefix(text, []byte("{\n"))...)}}, nil
}

// Generated reports whether data, the content of the file name, has the mark
// of a generated file, in its first 256 bytes. Only such files are ever replaced
// or removed.
func Generated(name string, data []byte) bool {
	head, _, _ := bytes.Cut(data, []byte("\n"))
	head = bytes.TrimSuffix(head, []byte("\r"))
	switch path.Ext(name) {
	case ".go":
		return string(head) == "// "+generated
	case ".md":
		return string(head) == "<!-- "+generated+" -->"
	case ".json":
		return bytes.Contains(data[:min(len(data), 256)], []byte(`"$comment": "`+generated+`"`))
	}
	return false
}
