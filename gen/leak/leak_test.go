package leak_test

import (
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/txtar"

	"github.com/freehold-dev/freehold/gen/leak"
)

const (
	resetfile = "m/reset/internal/resetfile"
	costfile  = "m/internal/st/cost/internal/costfile"
)

func isWriter(importPath string) bool { return importPath == resetfile || importPath == costfile }

// A module is a txtar archive of packages with one file each, type-checked on
// demand.
type module struct {
	fset    *token.FileSet
	sources map[string]*txtar.File
	checked map[string]*types.Package
	std     types.Importer
}

func read(t *testing.T, name string) *module {
	t.Helper()
	archive, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	m := &module{token.NewFileSet(), map[string]*txtar.File{}, map[string]*types.Package{}, importer.Default()}
	for i := range archive.Files {
		file := &archive.Files[i]
		importPath := path.Dir(file.Name)
		if !strings.HasPrefix(importPath, "github.com/") {
			importPath = "m/" + importPath
		}
		m.sources[importPath] = file
	}
	return m
}

// Import implements [types.Importer].
func (m *module) Import(importPath string) (*types.Package, error) {
	source, ok := m.sources[importPath]
	if !ok {
		return m.std.Import(importPath)
	}
	if p, ok := m.checked[importPath]; ok {
		return p, nil
	}
	file, err := parser.ParseFile(m.fset, source.Name, source.Data, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	config := types.Config{Importer: m}
	p, err := config.Check(importPath, m.fset, []*ast.File{file}, nil)
	m.checked[importPath] = p
	return p, err
}

var (
	marks = regexp.MustCompile(`// LEAK (\S+)`)
	text  = regexp.MustCompile(`^\w+\.(\S+) mentions (\S+), so (?:importers of|a process that opens as a plugin) (\S+) can`)
)

// TestEveryLeakIsFoundAndNothingElse compares names in both directions: each
// marked name leaks, and no other exported name does.
func TestEveryLeakIsFoundAndNothingElse(t *testing.T) {
	m := read(t, "testdata/leaks.txtar")
	for importPath, source := range m.sources {
		p, err := m.Import(importPath)
		if err != nil {
			t.Fatal(err)
		}
		want, got := map[string]bool{}, map[string]bool{}
		for _, mark := range marks.FindAllStringSubmatch(string(source.Data), -1) {
			want[mark[1]] = true
		}
		for _, l := range leak.Check(p, "m", isWriter) {
			words := text.FindStringSubmatch(l.Text)
			got[words[1]] = true
			if !isWriter(words[2]) && !strings.HasPrefix(words[2], "sidecar.") || words[3] != importPath {
				t.Errorf("%s names another package", l.Text)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", importPath, diff)
		}
	}
}

func TestLeaksSayWhereAndWhatToDo(t *testing.T) {
	m := read(t, "testdata/leaks.txtar")
	p, err := m.Import("m/reset")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range leak.Check(p, "m", isWriter) {
		line := strings.Split(string(m.sources["m/reset"].Data), "\n")[m.fset.Position(l.Pos).Line-1]
		name := text.FindStringSubmatch(l.Text)[1]
		if !strings.Contains(line, name[strings.LastIndexByte(name, '.')+1:]) {
			t.Errorf("%s is said to be at %q", name, line)
		}
	}
	for importPath, want := range map[string]string{
		"m/reset":            "reset.Open mentions m/reset/internal/resetfile, so importers of m/reset can come by its writer: export a function that does the writing instead",
		"m/internal/st/cost": "cost.Open mentions m/internal/st/cost/internal/costfile, so importers of m/internal/st/cost can come by its writer: export a function that does the writing instead",
		"m/launder":          "launder.Tx.Cleared mentions sidecar.Value, so importers of m/launder can come by a handle to write with: export a function that does the writing instead",
	} {
		p, err := m.Import(importPath)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range leak.Check(p, "m", isWriter) {
			got = append(got, l.Text)
		}
		if !slices.Contains(got, want) {
			t.Errorf("got\n%s\nwant %s", strings.Join(got, "\n"), want)
		}
	}
}

// TestEveryTypeOfTheLibraryIsJudged fails when package sidecar has a new type:
// add it to the handles in leak.go or to the harmless types here.
func TestEveryTypeOfTheLibraryIsJudged(t *testing.T) {
	harmless := strings.Fields(`Accepted Change Claimant Commit EventToken LeaseState Op Options Outcome Patch
		Ref Retiree Seen Version`)
	loaded, err := packages.Load(&packages.Config{Mode: packages.NeedName | packages.NeedTypes | packages.NeedImports | packages.NeedDeps},
		"github.com/freehold-dev/freehold/sidecar")
	if err != nil || len(loaded) != 1 || len(loaded[0].Errors) > 0 {
		t.Fatalf("%v, %v", loaded, err)
	}
	raw := 0
	for _, name := range loaded[0].Types.Scope().Names() {
		obj, ok := loaded[0].Types.Scope().Lookup(name).(*types.TypeName)
		if !ok || !obj.Exported() {
			continue
		}
		user := types.NewPackage("m/user", "user")
		user.Scope().Insert(types.NewVar(token.NoPos, user, "V", obj.Type()))
		found := len(leak.Check(user, "m", isWriter)) > 0
		if found {
			raw++
		}
		if found == slices.Contains(harmless, name) {
			t.Errorf("sidecar.%s: it is a leak: %v", name, found)
		}
	}
	if raw == 0 {
		t.Error("no type is a leak")
	}
}

func TestLoadChecksAModuleOnDisk(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/leaks.txtar")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "Ä module")
	const library = "github.com/freehold-dev/freehold"
	archive.Files = append(archive.Files,
		txtar.File{Name: "go.mod", Data: []byte("module m\n\ngo 1.26\n\nrequire " + library + " v0.0.0\n\nreplace " + library + " => ./" + library + "\n")},
		txtar.File{Name: library + "/go.mod", Data: []byte("module " + library + "\n\ngo 1.26\n")},
		txtar.File{Name: "broken/broken.go", Data: []byte("package broken\n\nfunc F() { undefined() }\n")})
	for _, file := range archive.Files {
		name := filepath.Join(dir, file.Name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, file.Data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	found, err := leak.Load(t.Context(), dir, "m", isWriter)
	if err != nil {
		t.Fatal(err)
	}
	m := read(t, "testdata/leaks.txtar")
	want := map[string]bool{}
	for importPath := range m.sources {
		p, err := m.Import(importPath)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range leak.Check(p, "m", isWriter) {
			want[m.fset.Position(l.Pos).String()+": "+l.Text] = true
		}
	}
	got := map[string]bool{}
	for _, line := range found {
		got[line] = true
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// A package of another module is checked if the module imports the package: one
// whose path is below a home may import the writer, and a third one may hand on
// what it got.
func TestLoadChecksImportedModules(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"app/go.mod": "module m\n\ngo 1.26\n\nrequire (\n\tm/reset/tools v0.0.0\n\tthird.example v0.0.0\n)\n\nreplace (\n\tm/reset/tools => ../tools\n\tthird.example => ../third\n)\n",
		"app/reset/internal/resetfile/resetfile.go": "package resetfile\n\ntype Writer struct{ w *int }\n",
		"app/use/use.go": "package use\n\nimport (\n\t_ \"m/reset/tools\"\n\t_ \"third.example\"\n)\n",
		"tools/go.mod":   "module m/reset/tools\n\ngo 1.26\n",
		"tools/tools.go": "package tools\n\nimport \"m/reset/internal/resetfile\"\n\nfunc Open() *resetfile.Writer { return nil }\n\nfunc Stamp() error { return nil }\n",
		"third/go.mod":   "module third.example\n\ngo 1.26\n",
		"third/third.go": "package third\n\nimport \"m/reset/tools\"\n\nvar Pen = tools.Open\n",
	} {
		name = filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, []byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	found, err := leak.Load(t.Context(), filepath.Join(dir, "app"), "m", isWriter)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, line := range found {
		place, _, _ := strings.Cut(line, " mentions "+resetfile)
		file, _, _ := strings.Cut(place, ":")
		got = append(got, file+place[strings.LastIndex(place, " "):])
	}
	slices.Sort(got)
	if diff := cmp.Diff([]string{"../third/third.go third.example.Pen", "../tools/tools.go tools.Open"}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// Files that the go command passes over here are checked like the others.
func TestLoadChecksFilesThatGoPassesOver(t *testing.T) {
	const body = "import \"m/reset/internal/resetfile\"\n\nvar W *resetfile.Writer\n"
	files := map[string]string{
		"reset/windows_only.go":                 "//go:build windows\n\npackage reset\n\n" + body,
		"reset/out_plan9.go":                    "package reset\n\nimport \"m/reset/internal/resetfile\"\n\nvar W2 *resetfile.Writer\n",
		"reset/tagged.go":                       "//go:build never\n\npackage reset\n\nvar W3 = mine()\n\nfunc mine() alias { return nil }\n",
		"reset/also.go":                         "//go:build other\n\npackage reset\n\nimport \"m/reset/internal/resetfile\"\n\ntype alias = *resetfile.Writer\n",
		"reset/testdata/x/x.go":                 "package x\n\n" + body,
		"reset/_y/y.go":                         "package y\n\n" + body,
		"reset/.z/z.go":                         "package z\n\n" + body,
		"reset/_y/through/t.go":                 "package through\n\nimport y \"m/reset/_y/internal/pen\"\n\nvar P y.Pen\n",
		"reset/_y/internal/pen/p.go":            "package pen\n\nimport \"m/reset/internal/resetfile\"\n\ntype Pen struct{ W *resetfile.Writer }\n",
		"reset/plug/plug.go":                    "//go:build plug\n\npackage main\n\n" + body,
		"reset/ok_windows.go":                   "package reset\n\nfunc Stamp2() error { return nil }\n",
		"reset/testdata/no.go":                  "this is no Go",
		"reset/nested/go.mod":                   "module m/reset/nested\n",
		"reset/nested/n.go":                     "package nested\n\n" + body, // another module: PROTOCOLS.md says so
		"reset/internal/resetfile/resetfile.go": "package resetfile\n\ntype Writer struct{ w *int }\n",
		"reset/reset.go":                        "package reset\n",
		"go.mod":                                "module m\n\ngo 1.26\n",
	}
	dir := t.TempDir()
	for name, text := range files {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	found, err := leak.Load(t.Context(), dir, "m", isWriter)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, line := range found {
		place, what, _ := strings.Cut(line, " mentions ")
		file, _, _ := strings.Cut(place, ":")
		got = append(got, file+place[strings.LastIndex(place, " "):])
		if !strings.HasPrefix(what, resetfile) {
			t.Errorf("%s names another package", line)
		}
	}
	slices.Sort(got)
	want := []string{
		"reset/.z/z.go .z.W", "reset/_y/through/t.go through.P.W", "reset/_y/y.go _y.W", "reset/out_plan9.go reset.W2", "reset/plug/plug.go plug.W",
		"reset/tagged.go reset.W3", "reset/testdata/x/x.go x.W", "reset/windows_only.go reset.W",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
