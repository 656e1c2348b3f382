package gen

import (
	"bytes"
	"errors"
	"fmt"
	"go/token"
	"path"
	"slices"
	"strings"

	"golang.org/x/mod/module"

	"github.com/freehold-dev/freehold/schema/declare"
)

// A File is one generated file.
type File struct {
	// Path is slash-separated and relative to the module root.
	Path string
	// Data is the whole content; lines end in "\n".
	Data []byte
}

// Generate returns every file that a declaration makes in the module whose
// path is modulePath, sorted by path. It returns an error that names what to
// change if Go could not import a package where the declaration puts it.
func Generate(src *declare.Source, modulePath string) ([]File, error) {
	s := newState(src, modulePath)
	if err := s.check(modulePath); err != nil {
		return nil, fmt.Errorf("%s: %w", src.File, err)
	}
	files, err := s.view()
	if err != nil {
		return nil, err
	}
	makers := []func() (File, error){s.test, s.matrix, s.viewSchema}
	for _, o := range s.Owners {
		makers = append(makers,
			func() (File, error) { return s.writer(o) },
			func() (File, error) { return s.ownerSchema(o) })
	}
	for _, make := range makers {
		file, err := make()
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return files, nil
}

// WriterPackages returns the import paths of the writer packages that a
// declaration makes in the module whose path is modulePath, sorted.
func WriterPackages(src *declare.Source, modulePath string) []string {
	var paths []string
	for _, o := range newState(src, modulePath).Owners {
		paths = append(paths, path.Join(modulePath, o.dir))
	}
	slices.Sort(paths)
	return paths
}

// check reports every package that Go would not build or import where the
// declaration puts it.
func (s *state) check(modulePath string) error {
	problems := []error{s.checkName(), importable(modulePath, s.folder)}
	for _, o := range s.Owners {
		problems = append(problems, importable(modulePath, o.dir))
		if root, ok := internalRoot(s.folder); ok && !within(o.dir, root) {
			problems = append(problems, fmt.Errorf("owner %s has its home in %s, which may not import the view package in %s: move owners.yaml out of the internal directory, or the home below %s",
				o.Name, o.Home, s.folder, root))
		}
	}
	return errors.Join(problems...)
}

func (s *state) checkName() error {
	if !token.IsIdentifier(s.Package) || s.Package == "_" || s.Package == "main" || strings.HasSuffix(s.Package, "_test") {
		return fmt.Errorf("%q cannot be the name of the view package: say `package: NAME`", s.Package)
	}
	if strings.HasSuffix(s.Name, "_") {
		return fmt.Errorf("the state's name %s ends in an underscore, so Go would take %stest.go for a test: rename the state", s.Name, s.Name)
	}
	return nil
}

// importable says why Go would not import the package in dir, a slash path
// relative to the module root, or ignore it.
func importable(modulePath, dir string) error {
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

// internalRoot returns the directory below which dir's packages may be
// imported, if dir is in an internal directory.
func internalRoot(dir string) (root string, ok bool) {
	elems := strings.Split(dir, "/")
	for i := len(elems) - 1; i >= 0; i-- {
		if elems[i] == "internal" {
			return path.Join(append([]string{"."}, elems[:i]...)...), true
		}
	}
	return "", false
}

// within reports whether dir is root or below it; both are clean slash paths.
func within(dir, root string) bool {
	return root == "." || dir == root || strings.HasPrefix(dir, root+"/")
}

func (s *state) viewSchema() (File, error) {
	text, err := declare.ViewSchema(s.declared)
	return s.schema("view", text, err)
}

func (s *state) ownerSchema(o owner) (File, error) {
	text, err := declare.SidecarSchema(s.declared, o.Name)
	return s.schema(o.Name, text, err)
}

// schema marks a JSON schema as generated. JSON has no comments, but JSON
// Schema has a member for them.
func (s *state) schema(name string, text []byte, err error) (File, error) {
	file := path.Join(s.folder, "schema", name+".schema.json")
	if err != nil {
		return File{}, fmt.Errorf("%s: %w", file, err)
	}
	mark := []byte("{\n  \"$comment\": \"" + generated + "\",\n")
	rest, ok := bytes.CutPrefix(text, []byte("{\n"))
	if !ok {
		return File{}, fmt.Errorf("%s: the schema is not an indented object (a bug in Freehold; please report it)", file)
	}
	return File{Path: file, Data: append(mark, rest...)}, nil
}
