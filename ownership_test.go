// Package freehold_test holds the laws of the whole tree: which package may
// import which, and that code which writes another owner's field does not
// compile. They are never relaxed to fix a build.
package freehold_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/freehold-dev/freehold/gen"
	"github.com/freehold-dev/freehold/gen/leak"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/schema/declare"
	"github.com/freehold-dev/freehold/sidecar/scratch"
	"golang.org/x/tools/go/packages"
)

func init() { scratch.Guard() }

const module = "github.com/freehold-dev/freehold"

// imports says which packages of this module a package may import; "…" stands
// for everything below. A package that is not named may import all of them:
// those are programs and their helpers.
var imports = map[string][]string{
	"schema":                    {},
	"schema/declare":            {"schema"},
	"schema/breaking":           {"schema", "schema/declare"},
	"schema/errorstest":         {},
	"sidecar/store":             {"schema", "sidecar/internal/…"},
	"sidecar/internal/document": {"schema", "sidecar/internal/process", "sidecar/internal/status"},
	"sidecar":                   {"schema", "sidecar/store", "sidecar/internal/…"},
	"sidecar/adopt":             {"schema", "sidecar", "sidecar/store", "sidecar/internal/…"},
	"sidecar/prune":             {"schema", "sidecar", "sidecar/store", "sidecar/internal/…"},
	"sidecar/upgrade":           {"schema", "sidecar", "sidecar/store", "sidecar/internal/…"},
	"sidecar/repair":            {"schema", "sidecar/internal/document", "sidecar/internal/statedir", "sidecar/internal/status"},
	"sidecar/retire":            {"schema", "sidecar/store", "sidecar/internal/…"},
	"reader/statetest":          {"reader", "reader/doctor", "schema", "sidecar", "sidecar/store"},
	"sidecar/history":           {"schema", "sidecar", "sidecar/store", "sidecar/internal/…"},
	"sidecar/internal/…":        {"schema", "sidecar/internal/…", "sidecar/scratch"},
	"sidecar/scratch":           {},
	"sidecar/scratch/document":  {"sidecar/internal/document", "sidecar/internal/pending"},
	"sidecar/scratch/statedir":  {"sidecar/internal/failpoint", "sidecar/internal/process", "sidecar/internal/statedir"},
	"sidecar/model":             {},
	"reader":                    {"schema", "sidecar/store", "reader/internal/…"},
	"reader/explain":            {"reader", "schema", "sidecar/store"},
	"reader/internal/…":         {},
	"reader/doctor":             {"reader", "schema", "sidecar", "sidecar/adopt", "sidecar/store"},
	"gen":                       {"schema", "schema/declare"},
	"gen/leak":                  {},
	"gen/tree":                  {"gen", "gen/leak", "schema", "schema/declare"},
	"owners/…":                  {"owners/…", "reader", "reader/doctor", "schema", "sidecar", "sidecar/retire", "sidecar/store", "reader/statetest"},
	"cmd/…":                     {"…"},

	// Kernel and bytes, from the bottom.
	"sidecar/internal/process":  {"sidecar/internal/status"},
	"sidecar/internal/lock":     {"sidecar/internal/dir", "sidecar/internal/process", "sidecar/internal/status", "sidecar/internal/witness"},
	"sidecar/internal/witness":  {"schema"},
	"sidecar/internal/dir":      {"sidecar/internal/process", "sidecar/internal/status"},
	"sidecar/internal/claims":   {"sidecar/internal/dir", "sidecar/internal/status"},
	"sidecar/internal/apply":    {"schema", "sidecar/internal/document", "sidecar/internal/process", "sidecar/internal/status"},
	"sidecar/internal/lease":    {"schema", "sidecar/internal/document", "sidecar/internal/process", "sidecar/internal/statedir", "sidecar/internal/status"},
	"sidecar/internal/statedir": {"schema", "sidecar/internal/claims", "sidecar/internal/dir", "sidecar/internal/lock", "sidecar/internal/pending", "sidecar/internal/process", "sidecar/internal/status", "sidecar/internal/witness"},
	"sidecar/internal/pending":  {"schema", "sidecar/internal/document", "sidecar/internal/apply", "sidecar/internal/process", "sidecar/internal/status"},
}

// hookModules are the only modules that a program of an owner may link: a hook
// starts a hundred times a minute.
var hookModules = []string{
	module,
	"github.com/fsnotify/fsnotify", // which the linker leaves out: TestHooksThatDoNotWatchCarryNoWatcher
	"github.com/go-json-experiment/json",
	"github.com/google/renameio/v2",
	"github.com/shopspring/decimal",
	"golang.org/x/sync",
	"golang.org/x/sys",
}

// load loads every package of the module with its types, once.
var load = sync.OnceValues(func() (map[string]*packages.Package, error) {
	cfg := &packages.Config{Mode: packages.NeedName | packages.NeedImports | packages.NeedDeps | packages.NeedTypes | packages.NeedModule}
	roots, err := packages.Load(cfg, "./...")
	if err != nil {
		return nil, err
	}
	all := map[string]*packages.Package{}
	var errs []error
	packages.Visit(roots, nil, func(p *packages.Package) {
		all[p.PkgPath] = p
		for _, e := range p.Errors {
			errs = append(errs, e)
		}
	})
	return all, errors.Join(errs...)
})

func loaded(t *testing.T) map[string]*packages.Package {
	t.Helper()
	all, err := load()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// local returns an import path without the module's, or false for others.
func local(pkg string) (string, bool) {
	if pkg == module {
		return ".", true
	}
	return strings.CutPrefix(pkg, module+"/")
}

func matches(pattern, pkg string) bool {
	below, ok := strings.CutSuffix(pattern, "…")
	return pattern == pkg || ok && (strings.HasPrefix(pkg, below) || pkg+"/" == below)
}

func TestImportsRunOneWay(t *testing.T) {
	for pkgPath, p := range loaded(t) {
		pkg, ok := local(pkgPath)
		if !ok || pkg == "." { // this file is all there is
			continue
		}
		allowed, named := imports[pkg]
		for pattern, list := range imports {
			if !named && matches(pattern, pkg) {
				allowed, named = list, true
			}
		}
		if !named {
			t.Errorf("package %s is not in the table of imports: add it with the packages that it may import", pkg)
			continue
		}
		for imported := range p.Imports {
			to, ok := local(imported)
			if ok && !slices.ContainsFunc(allowed, func(pattern string) bool { return matches(pattern, to) }) {
				t.Errorf("%s imports %s, and may import only %v", pkg, to, allowed)
			}
		}
	}
}

func TestHooksLinkFewModules(t *testing.T) {
	for pkgPath, p := range loaded(t) {
		if pkg, ok := local(pkgPath); !ok || !strings.HasPrefix(pkg, "owners/") || p.Name != "main" {
			continue
		}
		packages.Visit([]*packages.Package{p}, nil, func(dep *packages.Package) {
			if dep.Module != nil && !slices.Contains(hookModules, dep.Module.Path) {
				t.Errorf("%s links %s of module %s", p.PkgPath, dep.PkgPath, dep.Module.Path)
			}
		})
	}
}

// forPeople are packages that only the command for people links.
var forPeople = []string{"schema/breaking"}

func TestOnlyFreeholdLinksPackagesForPeople(t *testing.T) {
	linked := 0
	for pkgPath, p := range loaded(t) {
		if _, ours := local(pkgPath); !ours || p.Name != "main" {
			continue
		}
		packages.Visit([]*packages.Package{p}, nil, func(dep *packages.Package) {
			if name, _ := local(dep.PkgPath); slices.Contains(forPeople, name) {
				linked++
				if pkgPath != module+"/cmd/freehold" {
					t.Errorf("%s links %s", pkgPath, name)
				}
			}
		})
	}
	if linked != len(forPeople) {
		t.Errorf("the command freehold links %d of %d packages for people, so that the test shows nothing", linked, len(forPeople))
	}
}

// fh starts for every call of a hook: it links no command line, no YAML, no terminal
// and no network, and no C library, even where one could be linked. freehold links C for
// the standard library's network alone, and so none with CGO_ENABLED=0.
func TestFhLinksLittle(t *testing.T) {
	list := func(program string) []string {
		cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{.ImportPath}}{{if and .CgoFiles (not .Standard)}} C:{{.ImportPath}}{{end}}", program)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=1")
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.Fields(string(out))
	}
	heavy := regexp.MustCompile(`^(github\.com/spf13/|.*yaml|.*lipgloss|golang\.org/x/tools|github\.com/charmbracelet/x/ansi|net$|net/|os/user$|text/template|go/|runtime/cgo$)`)
	seen := 0
	for _, pkg := range list("./cmd/fh") {
		if heavy.MatchString(pkg) {
			t.Errorf("fh links %s", pkg)
		}
	}
	for _, pkg := range list("./cmd/freehold") {
		if strings.HasPrefix(pkg, "C:") {
			t.Errorf("freehold links %s", pkg)
		}
		if heavy.MatchString(pkg) {
			seen++
		}
	}
	if seen == 0 {
		t.Error("freehold links nothing heavy either, so the test shows nothing")
	}
}

// Watch is a method of every Reader, so that its package imports a watcher of
// files. The linker takes only functions that are called: a hook that reads carries none of
// it but the package's own start.
func TestHooksThatDoNotWatchCarryNoWatcher(t *testing.T) {
	program := filepath.Join(t.TempDir(), "stop")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./owners/runtime/cost/cmd/stop").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	out, err := exec.CommandContext(t.Context(), "go", "tool", "nm", program).Output()
	if err != nil {
		t.Fatal(err)
	}
	reads := false
	for line := range strings.Lines(string(out)) {
		_, symbol, _ := strings.Cut(strings.TrimSpace(line), " T ")
		reads = reads || symbol == module+"/reader.(*Reader).View"
		if strings.Contains(symbol, "fsnotify") && symbol != "github.com/fsnotify/fsnotify.init" || strings.Contains(symbol, "Reader).Watch") {
			t.Errorf("it carries %s", symbol)
		}
	}
	if !reads {
		t.Error("it does not read, so the test shows nothing")
	}
}

// A state is one owners.yaml of this module and its declaration.
type state struct {
	src    *declare.Source
	owners []owner
}

type owner struct {
	name, home, writer string
	fields             map[string]bool // by Go name
}

// states reads every owners.yaml below owners/.
func states(t *testing.T) []state {
	t.Helper()
	files, err := filepath.Glob("owners/*/owners.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no states: %v", err)
	}
	var all []state
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		src, err := declare.Parse(file, path.Dir(filepath.ToSlash(file)), text)
		if err != nil {
			t.Fatal(err)
		}
		s := state{src: src}
		for _, name := range src.Declaration.OwnerNames() {
			o := src.Declaration.Owners[name]
			fields := map[string]bool{}
			for _, f := range o.FieldNames() {
				fields[declare.GoName(f, o.Fields[f])] = true
			}
			s.owners = append(s.owners, owner{name, o.Home, path.Join(module, o.Home, "internal", name+"file"), fields})
		}
		all = append(all, s)
	}
	return all
}

// importer gives type checkers the packages that were loaded. It knows
// nothing of internal packages: another test checks that the toolchain
// refuses those.
type importer map[string]*packages.Package

func (all importer) Import(pkgPath string) (*types.Package, error) {
	if p, ok := all[pkgPath]; ok {
		return p.Types, nil
	}
	return nil, fmt.Errorf("not loaded: %s", pkgPath)
}

// check type-checks a file and returns the messages of the type checker.
func check(t *testing.T, imports []string, body string) []string {
	t.Helper()
	var text strings.Builder
	text.WriteString("package trespass\n")
	for _, p := range imports {
		fmt.Fprintf(&text, "import %q\n", p)
	}
	text.WriteString(body)
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "trespass.go", text.String(), 0)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text.String())
	}
	var messages []string
	cfg := types.Config{Importer: importer(loaded(t)), Error: func(err error) {
		messages = append(messages, err.(types.Error).Msg)
	}}
	cfg.Check("trespass", fset, []*ast.File{file}, nil)
	return messages
}

// accessorsOf has the types that may have a field's accessor: a once field, for
// one, is no part of a commit.
var accessorsOf = []string{"%s.Tx", "*%s.Writer"}

// accessor is code that uses the accessor of a field.
func accessor(of, pkg, field string) string {
	return fmt.Sprintf("func write(x %s) { x.%s() }", fmt.Sprintf(of, pkg), field)
}

// Every owner, every field of every other owner of the state: no accessor.
func TestForeignFieldDoesNotCompile(t *testing.T) {
	pairs := 0
	for _, s := range states(t) {
		for _, writer := range s.owners {
			for _, other := range s.owners {
				for field := range other.fields {
					if writer.fields[field] {
						continue // its own, or its own part of a map of several owners
					}
					pairs++
					pkg := path.Base(writer.writer)
					for _, of := range accessorsOf {
						got := check(t, []string{writer.writer}, accessor(of, pkg, field))
						want := fmt.Sprintf("x.%s undefined (type %s has no field or method %s)", field, fmt.Sprintf(of, pkg), field)
						if len(got) != 1 || got[0] != want {
							t.Errorf("owner %s, field %s: got %q, want %q", writer.name, field, got, want)
						}
					}
				}
			}
		}
	}
	if pairs == 0 {
		t.Error("no pair was tried")
	}
}

// The control: every owner's own accessors compile.
func TestOwnFieldCompiles(t *testing.T) {
	for _, s := range states(t) {
		for _, o := range s.owners {
			for field := range o.fields {
				pkg := path.Base(o.writer)
				var have []string
				for _, of := range accessorsOf {
					if len(check(t, []string{o.writer}, accessor(of, pkg, field))) == 0 {
						have = append(have, of)
					}
				}
				if len(have) != 1 {
					t.Errorf("owner %s, field %s: accessors of %q, want one", o.name, field, have)
				}
			}
		}
	}
}

// apiOf lists all that a package exports: functions, variables and constants
// with their types, methods by "Type.Method", also promoted ones, and exported
// fields of structs by "Type.Field". A type stands as "type Name", with the type
// that it is made of unless that is a struct.
func apiOf(pkg *types.Package) map[string]string {
	spell := func(t types.Type) string {
		return types.TypeString(t, func(p *types.Package) string {
			if p == pkg {
				return ""
			}
			return p.Name()
		})
	}
	api := map[string]string{}
	for _, name := range pkg.Scope().Names() {
		obj := pkg.Scope().Lookup(name)
		declared, isType := obj.(*types.TypeName)
		switch {
		case !obj.Exported():
		case !isType:
			if api[name] = spell(obj.Type()); isVariable(obj) {
				api[name] = "var " + api[name] // any program could assign to it
			}
		case declared.IsAlias():
			api["type "+name] = spell(types.Unalias(declared.Type()))
		default:
			api["type "+name] = ""
			if _, ok := declared.Type().Underlying().(*types.Struct); !ok {
				api["type "+name] = spell(declared.Type().Underlying())
			}
			for m := range types.NewMethodSet(types.NewPointer(declared.Type())).Methods() {
				if m.Obj().Exported() {
					api[name+"."+m.Obj().Name()] = spell(m.Type())
				}
			}
			if s, ok := declared.Type().Underlying().(*types.Struct); ok {
				for f := range s.Fields() {
					if f.Exported() {
						api[name+"."+f.Name()] = spell(f.Type())
					}
				}
			}
		}
	}
	return api
}

func isVariable(obj types.Object) bool {
	_, ok := obj.(*types.Var)
	return ok
}

// goType spells the type of a value like f, declared with the Go name name; of
// a set, of an element. view is the prefix of the names of the view package.
func goType(t *testing.T, view, name string, f schema.Field) string {
	t.Helper()
	switch f.Type {
	case schema.TypeList:
		return "[]" + goType(t, view, declare.GoElementName(name, *f.Of), *f.Of)
	case schema.TypeEnum, schema.TypeRecord:
		return view + name
	}
	plain, ok := map[schema.Type]string{
		schema.TypeBool: "bool", schema.TypeInt: "int64", schema.TypeUint: "uint64", schema.TypeFloat: "float64", schema.TypeDecimal: "decimal.Decimal",
		schema.TypeString: "string", schema.TypeTime: "time.Time", schema.TypeDuration: "time.Duration", schema.TypeJSON: "jsontext.Value",
	}[f.Type]
	if !ok {
		t.Fatalf("a field of type %q, which has no type in Go here", f.Type)
	}
	return plain
}

// writerAPI is all that the declaration lets the writer package of owner export.
func writerAPI(t *testing.T, d *declare.Source, owner string) map[string]string {
	view := path.Base(d.Folder) + "."
	handle := func(name string, f schema.Field) string {
		kind := string(f.EffectiveKind())
		kind = strings.ToUpper(kind[:1]) + kind[1:]
		if f.EffectiveKind().OnWriter() {
			return "sidecar." + kind
		}
		if f.Dependent() {
			return fmt.Sprintf("sidecar.Dependent%s[%sSeen, %s]", kind, view+name, goType(t, view, name, f))
		}
		return fmt.Sprintf("sidecar.%s[%s]", kind, goType(t, view, name, f))
	}
	api := map[string]string{
		"Open":         "func(ctx context.Context, dir string, o *sidecar.Options) (*Writer, error)",
		"type Writer":  "",
		"Writer.Close": "func() error", "Writer.Update": "func(ctx context.Context, fn func(Tx) error) (sidecar.Commit, error)",
		"type Tx":      "",
		"Tx.IfVersion": "func(v sidecar.Version)",
	}
	if d.Declaration.Instanced() {
		api["Open"] = "func(ctx context.Context, dir string, id string, o *sidecar.Options) (*Writer, error)"
	}
	for field, f := range d.Declaration.Owners[owner].Fields {
		name := declare.GoName(field, f)
		switch {
		case f.EffectiveKind().OnWriter():
			api["Writer."+name] = "func() " + handle(name, f)
		case f.EffectiveKind() != schema.Map:
			api["Tx."+name] = "func() " + handle(name, f)
		case f.Value != nil:
			api["Tx."+name] = "func() sidecar.Map[" + handle(declare.GoElementName(name, *f.Value), *f.Value) + "]"
		default:
			entry, kind := declare.GoEntryName(name), "Part"
			if keys, _ := d.Declaration.OwnerOf(field); keys == owner {
				kind = "Map"
			}
			api["Tx."+name] = "func() sidecar." + kind + "[" + entry + "]"
			api["type "+entry] = ""
			for member, m := range f.Record {
				whole := declare.GoMemberName(name, member, m)
				api[entry+"."+declare.GoName(member, m)] = "func() " + handle(whole, m)
			}
		}
	}
	return api
}

// viewAPI is all that the declaration lets the view package export.
func viewAPI(t *testing.T, d *declare.Source) map[string]string {
	api := map[string]string{
		"type Reader": "reader.Typed[View]",
		"Open":        "func(dir string) (*Reader, error)",
		"Declaration": "func() *schema.Declaration",
		"type View":   "",
		"View.Raw":    "func() *reader.View",
	}
	if d.Declaration.Instanced() {
		api["Open"] = "func(dir string, id string) (*Reader, error)"
	}
	shown := func(name string, f schema.Field) string {
		if f.EffectiveKind() == schema.Set {
			return "reader.Field[[]" + goType(t, "", name, f) + "]"
		}
		return "reader.Field[" + goType(t, "", name, f) + "]"
	}
	for owner, o := range d.Declaration.Owners {
		for field, f := range o.Fields {
			keys, _ := d.Declaration.OwnerOf(field)
			name := declare.GoName(field, d.Declaration.Owners[keys].Fields[field])
			api["Field"+name] = "untyped string"
			switch {
			case f.EffectiveKind() != schema.Map:
				api["View."+name] = "func() " + shown(name, f)
				addTypes(t, api, name, f)
			case f.Value != nil:
				element := declare.GoElementName(name, *f.Value)
				api["View."+name] = "func() reader.Map[" + shown(element, *f.Value) + "]"
				addTypes(t, api, element, *f.Value)
			default:
				entry := declare.GoEntryName(name)
				if owner == keys {
					api["View."+name], api["type "+entry] = "func() reader.Map["+entry+"]", ""
				}
				for member, m := range f.Record {
					whole := declare.GoMemberName(name, member, m)
					api[entry+"."+declare.GoName(member, m)] = "func() " + shown(whole, m)
					addTypes(t, api, whole, m)
				}
			}
			if f.Dependent() {
				seen := declare.GoSeenName(name)
				api["View."+declare.GoObserveName(name)] = "func() (" + seen + ", error)"
				api["type "+seen], api[seen+".Seen"] = "", "func() sidecar.Seen"
				api[seen+".MarshalText"], api[seen+".UnmarshalText"] = "func() ([]byte, error)", "func(text []byte) error"
			}
		}
	}
	return api
}

// addTypes adds the API of the types that a view package declares for a value
// like f, of which the first has the name name.
func addTypes(t *testing.T, api map[string]string, name string, f schema.Field) {
	t.Helper()
	switch f.Type {
	case schema.TypeList:
		addTypes(t, api, declare.GoElementName(name, *f.Of), *f.Of)
	case schema.TypeEnum:
		api["type "+name], api["Parse"+name] = "", "func(s string) ("+name+", error)"
		api[name+".String"], api[name+".MarshalText"], api[name+".UnmarshalText"] = "func() string", "func() ([]byte, error)", "func(text []byte) (err error)"
		for _, value := range f.Values {
			api[declare.GoValueName(name, value)] = "func() " + name
		}
	case schema.TypeRecord:
		api["type "+name], api[name+".JSONMembers"] = "", "func() schema.Members"
		for member, m := range f.Fields {
			whole := declare.GoMemberName(name, member, m)
			api[name+"."+declare.GoName(member, m)] = "schema.Optional[" + goType(t, "", whole, m) + "]"
			addTypes(t, api, whole, m)
		}
	}
}

// testAPI is all that the declaration lets the package for tests export.
func testAPI(t *testing.T, d *declare.Source) map[string]string {
	view := path.Base(d.Folder) + "."
	api := map[string]string{
		"type Setting": "func(*statetest.Maker)",
		"State":        "func(t testing.TB, settings ...Setting) string",
		"View":         "func(t testing.TB, settings ...Setting) " + view + "View",
	}
	if d.Declaration.Instanced() {
		api["State"] = "func(t testing.TB, id string, settings ...Setting) string"
	}
	setting := func(key, name string, f schema.Field) string {
		if f.EffectiveKind() == schema.Set {
			return "func(" + key + "elements ..." + goType(t, view, name, f) + ") Setting"
		}
		return "func(" + key + "v " + goType(t, view, name, f) + ") Setting"
	}
	for _, o := range d.Declaration.Owners {
		for field, f := range o.Fields {
			keys, _ := d.Declaration.OwnerOf(field)
			name := declare.GoName(field, d.Declaration.Owners[keys].Fields[field])
			switch {
			case f.EffectiveKind() != schema.Map:
				api[name] = setting("", name, f)
			case f.Value != nil:
				api[name] = setting("key string, ", declare.GoElementName(name, *f.Value), *f.Value)
			default:
				api[name] = "func(keys ...string) Setting"
				for member, m := range f.Record {
					whole := declare.GoMemberName(name, member, m)
					api[whole] = setting("key string, ", whole, m)
				}
			}
			if f.Dependent() {
				api[declare.GoBeforeName(name)], api[declare.GoUnobservedName(name)] = api[name], api[name]
			}
		}
	}
	return api
}

// diff lists the differences between the API that a package has and the API that
// the declaration allows.
func diff(has, may map[string]string) (lines []string) {
	for name, typ := range has {
		if allowed, ok := may[name]; !ok {
			lines = append(lines, "exports "+name+" "+typ+", and the declaration allows none")
		} else if allowed != typ {
			lines = append(lines, "exports "+name+" "+typ+", and the declaration allows "+allowed)
		}
	}
	for name, typ := range may {
		if _, ok := has[name]; !ok {
			lines = append(lines, "lacks "+name+" "+typ)
		}
	}
	slices.Sort(lines)
	return lines
}

// may has the API that the declaration allows of each generated package, by
// import path.
func (s state) may(t *testing.T) map[string]map[string]string {
	t.Helper()
	view := path.Join(module, s.src.Folder)
	all := map[string]map[string]string{
		view: viewAPI(t, s.src),
		path.Join(view, declare.TestPackage(s.src.Declaration.State)): testAPI(t, s.src),
	}
	for _, o := range s.owners {
		all[o.writer] = writerAPI(t, s.src, o.name)
	}
	return all
}

// The world of generated packages is closed: a writer package, a view package
// and a package for tests export the API that the declaration allows, nothing else.
func TestGeneratedAPIIsClosed(t *testing.T) {
	for _, s := range states(t) {
		for pkg, may := range s.may(t) {
			for _, line := range diff(apiOf(loaded(t)[pkg].Types), may) {
				t.Errorf("%s %s", pkg, line)
			}
		}
	}
}

// A generator that is wrong in one of these ways is found by the law above, not
// only by a file that -update writes again.
func TestGeneratedAPIOfABadGeneratorIsFound(t *testing.T) {
	const (
		reset    = "owners/runtime/reset/internal/resetfile"
		tool     = "owners/usage/tool/internal/toolfile"
		runtime  = "owners/runtime"
		forTests = "owners/runtime/runtimetest"
	)
	for name, tc := range map[string]struct{ pkg, old, new, want string }{
		"foreign field, other name":  {reset, "", `func (tx Tx) Spent() sidecar.Value[bool] { return sidecar.ValueOf(tx.tx, "total_usd", schema.Bool) }`, "exports Tx.Spent"},
		"foreign members in a map":   {tool, "", `func (e SkillsEntry) Pinned() sidecar.Value[bool] { return sidecar.ValueIn(e.ofSkills, "pinned", schema.Bool) }`, "exports SkillsEntry.Pinned"},
		"Map for Part":               {tool, "sidecar.Part", "sidecar.Map", "exports Tx.Skills func() sidecar.Map[SkillsEntry], and the declaration allows func() sidecar.Part"},
		"Put(field, text)":           {reset, "", "func (tx Tx) Put(field, text string) error { return nil }", "exports Tx.Put"},
		"OpenAs(owner)":              {reset, "", `func OpenAs(ctx context.Context, dir, owner string) (*Writer, error) { w, err := sidecar.Open(ctx, dir, runtime.Declaration(), owner, nil); return &Writer{w}, err }`, "exports OpenAs"},
		"the Tx within is exported":  {reset, "type Tx struct{ tx ", "type Tx struct{ *sidecar.Tx; tx ", "exports Tx.Tx *sidecar.Tx"},
		"a field without accessor":   {reset, "(tx Tx) ContextCleared()", "(tx Tx) contextCleared()", "lacks Tx.ContextCleared"},
		"a max that can be set":      {tool, "sidecar.Max[time.Time]", "sidecar.Value[time.Time]", "exports SkillsEntry.LastUsedAt"},
		"a token that is a variable": {reset, "", "var Last *Tx", "exports Last var *Tx"},

		"a view that writes":              {runtime, "", "func (v View) SetContextCleared(cleared bool) error { return nil }", "exports View.SetContextCleared"},
		"a view that gives a Tx":          {runtime, "", "func (v View) Tx() *sidecar.Tx { return nil }", "exports View.Tx"},
		"a view's writer in an any":       {runtime, "", "func OpenAny(dir string) any { return nil }", "exports OpenAny"},
		"a getter of another type":        {runtime, "ContextCleared() reader.Field[bool]", "ContextCleared() reader.Field[string]", "exports View.ContextCleared"},
		"a field without getter":          {runtime, "(v View) ContextCleared()", "(v View) contextCleared()", "lacks View.ContextCleared"},
		"an enum of any text":             {runtime, "type RestartReason struct{ s string }", "type RestartReason string", "exports type RestartReason string"},
		"an enum that can be filled":      {runtime, "type RestartReason struct{ s string }", "type RestartReason struct{ S string }", "exports RestartReason.S"},
		"an enum's value as a variable":   {runtime, "func RestartReasonPaneFrozen() RestartReason { return ", "var RestartReasonPaneFrozen = func() RestartReason { return ", "exports RestartReasonPaneFrozen var "},
		"a token that can be filled":      {runtime, "type LastPromptTokensSeen struct{ of", "type LastPromptTokensSeen struct{ Of", "exports LastPromptTokensSeen.Of"},
		"a test that writes into a state": {forTests, "", "func Into(t testing.TB, dir string, settings ...Setting) {}", "exports Into"},
		"a test state that exists":        {forTests, "func State(t testing.TB, settings", "func State(t testing.TB, dir string, settings", "exports State"},
		"a setting that has the writer":   {forTests, "type Setting func(*statetest.Maker)", "type Setting func(*sidecar.Writer)", "exports type Setting"},
		"a field without a setting":       {forTests, "func ContextCleared(", "func contextCleared(", "lacks ContextCleared"},
	} {
		t.Run(name, func(t *testing.T) {
			found := diff(apiOf(mutant(t, tc.pkg, tc.old, tc.new)), mayOf(t, path.Join(module, tc.pkg)))
			if !slices.ContainsFunc(found, func(line string) bool { return strings.HasPrefix(line, tc.want) }) {
				t.Errorf("found %q, want a line that begins with %q", found, tc.want)
			}
		})
	}
}

// mayOf is the API that its declaration allows of a generated package.
func mayOf(t *testing.T, pkg string) map[string]string {
	t.Helper()
	for _, s := range states(t) {
		if may, ok := s.may(t)[pkg]; ok {
			return may
		}
	}
	t.Fatalf("no state has the package %s", pkg)
	return nil
}

// mutant type-checks the package in dir with the text old replaced by another, or
// if old is empty, with the other added.
func mutant(t *testing.T, dir, old, by string) *types.Package {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	changed, fset, files := false, token.NewFileSet(), []*ast.File(nil)
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		bad := strings.ReplaceAll(string(text), old, by)
		if old == "" {
			bad = string(text) + "\n"
			if !changed {
				bad += by
			}
		}
		changed = changed || bad != string(text)
		file, err := parser.ParseFile(fset, name, bad, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	if !changed {
		t.Fatalf("no file of %s has %q", dir, old)
	}
	// Of code in bodies the law asks nothing, so bodies need not fit.
	cfg := types.Config{Importer: importer(loaded(t)), IgnoreFuncBodies: true, Error: func(error) {}}
	pkg, _ := cfg.Check(path.Join(module, dir), fset, files, nil)
	return pkg
}

// A handle cannot be made, turned into another or taken apart.
func TestHandlesCannotBeForged(t *testing.T) {
	const (
		reset   = module + "/owners/runtime/reset/internal/resetfile"
		cost    = module + "/owners/runtime/cost/internal/costfile"
		view    = module + "/owners/runtime"
		sidecar = module + "/sidecar"
	)
	for name, tc := range map[string]struct {
		imports []string
		body    string
		want    string // in a message; empty: the control, which compiles
	}{
		"convert a Tx":         {[]string{reset, cost}, "func f(tx resetfile.Tx) costfile.Tx { return costfile.Tx(tx) }", "cannot convert tx"},
		"convert a Writer":     {[]string{reset, cost}, "func f(w *resetfile.Writer) *costfile.Writer { return (*costfile.Writer)(w) }", "cannot convert w"},
		"assign a Tx":          {[]string{reset, cost}, "func f(tx resetfile.Tx) { var c costfile.Tx = tx; _ = c }", "cannot use tx"},
		"fill a Tx by name":    {[]string{reset}, "var tx = resetfile.Tx{tx: nil}", "unexported field tx"},
		"fill a Tx":            {[]string{reset, sidecar}, "func f(raw *sidecar.Tx) { _ = resetfile.Tx{raw} }", "implicit assignment to unexported field tx"},
		"take a Tx apart":      {[]string{reset}, "func f(tx resetfile.Tx) { _ = tx.tx }", "tx.tx undefined"},
		"embed a Tx":           {[]string{reset}, "type mine struct{ resetfile.Tx }\nfunc f(m mine) { m.TotalUSD() }", "m.TotalUSD undefined"},
		"convert a handle":     {[]string{sidecar}, "func f(v sidecar.Value[bool]) sidecar.Max[bool] { return sidecar.Max[bool](v) }", "cannot convert v"},
		"fill a handle":        {[]string{sidecar}, "var v = sidecar.Value[bool]{value: nil}", "unexported field value"},
		"misspell an enum":     {[]string{view}, `var r = runtime.RestartReason("pane_frozen")`, "cannot convert"},
		"fill an enum":         {[]string{view}, `var r = runtime.RestartReason{"pane_frozen"}`, "implicit assignment to unexported field s"},
		"reassign an enum":     {[]string{view}, "func f() { runtime.RestartReasonPaneFrozen = nil }", "cannot assign"},
		"set text to an enum":  {[]string{module + "/owners/runtime/watchdog/internal/watchdogfile"}, `func f(tx watchdogfile.Tx) { tx.RestartReason().Set("pane-frozen") }`, "cannot use"},
		"clear a max":          {[]string{module + "/owners/runtime/archive/internal/archivefile"}, "func f(tx archivefile.Tx) { tx.LastRawArchiveAt().Clear() }", "Clear undefined"},
		"set an event":         {[]string{reset}, "func f(w *resetfile.Writer) { w.LastContextResetAt().Set(nil) }", "Set undefined"},
		"an event in a Tx":     {[]string{reset}, "func f(tx resetfile.Tx) { tx.LastContextResetAt() }", "tx.LastContextResetAt undefined"},
		"write unobserved":     {[]string{cost}, "func f(tx costfile.Tx) { tx.LastPromptTokens().Set(5) }", "not enough arguments in call to tx.LastPromptTokens().Set"},
		"another token":        {[]string{cost, sidecar}, "func f(tx costfile.Tx, seen sidecar.Seen) { tx.LastPromptTokens().Set(seen, 5) }", "cannot use seen"},
		"forge a token":        {[]string{view, sidecar}, "func f(seen sidecar.Seen) { _ = runtime.LastPromptTokensSeen{seen} }", "implicit assignment to unexported field ofLastPromptTokens"},
		"convert a token":      {[]string{view, sidecar}, "func f(seen runtime.LastPromptTokensSeen) { type other struct{ ofOther sidecar.Seen }; _ = other(seen) }", "cannot convert seen"},
		"observe, the control": {[]string{cost, view}, "func f(tx costfile.Tx, seen runtime.LastPromptTokensSeen) { tx.LastPromptTokens().Set(seen, 5) }", ""},
		"clear a once field":   {[]string{sidecar}, "func f(o sidecar.Once) { o.Clear() }", "Clear undefined"},
		"set a counter":        {[]string{cost}, "func f(tx costfile.Tx) { tx.TotalUSD().Set(nil) }", "Set undefined"},
		"write through a view": {[]string{view}, "func f(v runtime.View) { v.ContextCleared().Set(true) }", "Set undefined"},
		"the control":          {[]string{reset}, "func f(tx resetfile.Tx) { tx.ContextCleared().Set(true) }", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := check(t, tc.imports, tc.body)
			if tc.want == "" {
				if len(got) != 0 {
					t.Errorf("does not compile: %q", got)
				}
				return
			}
			if !slices.ContainsFunc(got, func(m string) bool { return strings.Contains(m, tc.want) }) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// Every program, every foreign writer package: the toolchain refuses the
// import. The fixtures exist in an overlay only, one package for each pair,
// because go reports one refusal for a package.
func TestForeignWriterCannotBeImported(t *testing.T) {
	dir := t.TempDir()
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	type fixture struct{ pkg, writer string }
	var foreign, own []fixture
	var args []string
	for _, s := range states(t) {
		for _, o := range s.owners {
			for pkgPath, p := range loaded(t) {
				pkg, ok := local(pkgPath)
				if !ok || p.Name != "main" {
					continue
				}
				name := fmt.Sprintf("trespass%d", len(overlay.Replace))
				text := fmt.Sprintf("package main\n\nimport _ %q\n\nfunc main() {}\n", o.writer)
				file := filepath.Join(dir, name+".go")
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				at, err := filepath.Abs(filepath.Join(pkg, name, "main.go"))
				if err != nil {
					t.Fatal(err)
				}
				overlay.Replace[at] = file
				f := fixture{path.Join(module, pkg, name), o.writer}
				args = append(args, "./"+path.Join(pkg, name))
				if strings.HasPrefix(pkg+"/", o.home+"/") {
					own = append(own, f)
				} else {
					foreign = append(foreign, f)
				}
			}
		}
	}
	text, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"build", "-o", os.DevNull, "-overlay", file}, args...)...)
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Fatal("everything compiled")
	}
	refusal := func(f fixture) string {
		file, _ := local(f.pkg)
		return fmt.Sprintf("package %s\n\t%s/main.go:3:8: use of internal package %s not allowed\n", f.pkg, file, f.writer)
	}
	if len(foreign) == 0 || len(own) == 0 {
		t.Fatalf("%d foreign pairs and %d controls", len(foreign), len(own))
	}
	for _, f := range foreign {
		if !strings.Contains(string(out), refusal(f)) {
			t.Errorf("%s may import %s; go said\n%s", f.pkg, f.writer, out)
		}
	}
	for _, f := range own {
		if strings.Contains(string(out), f.pkg+"\n") {
			t.Errorf("the control %s may not import %s; go said\n%s", f.pkg, f.writer, out)
		}
	}
}

// A home's exported functions are verbs: outside internal, nobody can be
// handed a writer.
func TestNoExportedAPIMentionsAWriter(t *testing.T) {
	writers := map[string]bool{}
	for _, s := range states(t) {
		for _, pkg := range gen.WriterPackages(s.src, module) {
			writers[pkg] = true
		}
	}
	found, err := leak.Load(t.Context(), ".", module, func(pkg string) bool { return writers[pkg] })
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range found {
		t.Error(line)
	}
}

// A tally is the size of one package, without tests and generated code.
type tally struct {
	files, lines int
	exported     int // functions, types, methods of exported types, variables, constants
	words        int // of comments
	relative     int // who, what and their kin among them
	it           int
	methods      map[string]int // by type
}

// Each package of tests that start processes lets them end with the run of tests.
func TestWhatTestsStartIsGuarded(t *testing.T) {
	starts, guards := map[string]string{}, map[string]bool{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() && d.Name() == "testdata" {
			return filepath.SkipDir
		}
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		has := func(call string) bool { return strings.Contains(string(text), call+"(") }
		if slices.ContainsFunc([]string{"exec.Command", "exec.CommandContext", "os.StartProcess", "role.Process"}, has) {
			starts[filepath.Dir(path)] = path
		}
		if slices.ContainsFunc([]string{"Guard", "scratch.Main", "role.Main"}, has) {
			guards[filepath.Dir(path)] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for dir, path := range starts {
		if !guards[dir] {
			t.Errorf("%s starts processes, and no test file of its package calls scratch.Guard", path)
		}
	}
}

// testKit holds the packages that only tests use; they are no product.
var testKit = []string{"sidecar/bench", "sidecar/history", "sidecar/internal/failpoint", "sidecar/internal/testkit/…", "sidecar/model", "sidecar/scratch", "sidecar/scratch/document", "sidecar/scratch/statedir", "schema/errorstest"}

var (
	generatedLine = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)
	word          = regexp.MustCompile(`[\p{L}$']+`)
	relativeWord  = regexp.MustCompile(`(?i)\b(who|whom|whose|whoever|what|whatever)\b`)
	pronounIt     = regexp.MustCompile(`(?i)\bit\b`)
)

// eachFile calls fn with every source file of the module, tests apart, that
// nobody generated.
func eachFile(t *testing.T, fn func(pkg, name, text string, fset *token.FileSet, file *ast.File)) {
	t.Helper()
	fset := token.NewFileSet()
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (d.Name() == "testdata" || d.Name()[0] == '.'):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil || generatedLine.Match(text) {
			return err
		}
		file, err := parser.ParseFile(fset, name, text, parser.ParseComments)
		if err != nil {
			return err
		}
		fn(filepath.ToSlash(filepath.Dir(name)), name, string(text), fset, file)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// tallies measures every package.
func tallies(t *testing.T) map[string]*tally {
	t.Helper()
	all := map[string]*tally{}
	eachFile(t, func(pkg, name, text string, _ *token.FileSet, file *ast.File) {
		s := all[pkg]
		if s == nil {
			s = &tally{methods: map[string]int{}}
			all[pkg] = s
		}
		s.files++
		s.lines += strings.Count(text, "\n")
		for _, group := range file.Comments {
			comment := group.Text()
			s.words += len(word.FindAllString(comment, -1))
			s.relative += len(relativeWord.FindAllString(comment, -1))
			s.it += len(pronounIt.FindAllString(comment, -1))
		}
		if strings.HasSuffix(name, "_darwin.go") { // the names are those of Linux
			return
		}
		for _, decl := range file.Decls {
			s.count(decl)
		}
	})
	return all
}

// count adds the names that decl exports and the methods that it gives a type.
func (s *tally) count(decl ast.Decl) {
	exports := func(name string) {
		if ast.IsExported(name) {
			s.exported++
		}
	}
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			exports(d.Name.Name)
			return
		}
		typ := receiver(d.Recv.List[0].Type)
		s.methods[typ]++
		if ast.IsExported(typ) {
			exports(d.Name.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				exports(spec.Name.Name)
			case *ast.ValueSpec:
				for _, name := range spec.Names {
					exports(name.Name)
				}
			}
		}
	}
}

// receiver returns the name of a method's type.
func receiver(expr ast.Expr) string {
	switch e := expr.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// public reports whether another module can import pkg.
func public(pkg string) bool {
	return !slices.Contains(strings.Split(pkg, "/"), "internal") && !strings.HasPrefix(pkg, "cmd/") && !strings.HasPrefix(pkg, "owners/")
}

func inTestKit(pkg string) bool {
	return slices.ContainsFunc(testKit, func(pattern string) bool { return matches(pattern, pkg) })
}

// limits returns a check of a figure against the ceiling of that name in
// .ci/limits.txt.
func limits(t *testing.T) func(figure string, got int, limit string) {
	t.Helper()
	text, err := os.ReadFile(".ci/limits.txt")
	if err != nil {
		t.Fatal(err)
	}
	ceilings := map[string]int{}
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "#")
		if f := strings.Fields(line); len(f) > 0 {
			if ceilings[f[0]], err = strconv.Atoi(f[1]); err != nil {
				t.Fatal(err)
			}
		}
	}
	return func(figure string, got int, limit string) {
		t.Helper()
		if bound, ok := ceilings[limit]; !ok || got > bound {
			t.Errorf("%s: %d, and .ci/limits.txt allows %d as %s", figure, got, bound, limit)
		}
	}
}

// The figures of .ci/limits.txt are the tree's at the last change of shape. A
// change that needs more raises a figure and gives its reason there.
func TestPackagesKeepTheirLimits(t *testing.T) {
	most := limits(t)
	all := tallies(t)
	var sum, kit tally
	names := 0
	for _, pkg := range slices.Sorted(maps.Keys(all)) {
		s := all[pkg]
		t.Logf("%-40s %3d files %6d lines %4d exported", pkg, s.files, s.lines, s.exported)
		most(pkg+": files", s.files, "files-of-a-package")
		most(pkg+": lines", s.lines, "lines-of-a-package")
		for typ, n := range s.methods {
			most(pkg+"."+typ+": methods", n, "methods-of-a-type")
		}
		total := &sum
		if inTestKit(pkg) {
			total = &kit
		}
		if public(pkg) {
			most(pkg+": exported names", s.exported, pkg)
			names += s.exported
		}
		total.files += s.files
		total.lines += s.lines
		sum.words, sum.relative, sum.it = sum.words+s.words, sum.relative+s.relative, sum.it+s.it
	}
	t.Logf("product: %d files, %d lines, %d public names; test kit: %d files, %d lines", sum.files, sum.lines, names, kit.files, kit.lines)
	t.Logf("comments: %d words; in 1,000 words %.1f who and what, %.1f it", sum.words, 1000*float64(sum.relative)/float64(sum.words), 1000*float64(sum.it)/float64(sum.words))
	most("lines of the product", sum.lines, "lines")
	most("files of source", sum.files+kit.files, "files")
	most("public names", names, "names")
	most("who and what in 10,000 words of comment", 10000*sum.relative/sum.words, "relative-words")
	most("it in 10,000 words of comment", 10000*sum.it/sum.words, "it-words")
}

// openers says of each file that opens files how that waits for no pipe and has no
// effect on a device. Other files go through these.
var openers = map[string]string{
	"cmd/internal/lease/hold.go":                "the terminal",
	"gen/tree/draft.go":                         "its own drafts, and directories",
	"gen/tree/module.go":                        "Read, of files of a module",
	"gen/tree/scan.go":                          "regular files, by the entry of their directory",
	"gen/tree/stranded.go":                      "regular files, by the entry of their directory",
	"owners/command/command.go":                 "ReadFile, of pipes too, with a deadline",
	"owners/runtime/cost/costlog.go":            "the log, without waiting",
	"sidecar/adopt/reading.go":                  "look, of a legacy file",
	"sidecar/internal/dir/dir.go":               "the one opener of files of a state",
	"sidecar/internal/dir/draft.go":             "its own drafts",
	"sidecar/internal/dir/draft_linux.go":       "its own drafts",
	"sidecar/internal/dir/file.go":              "a directory",
	"sidecar/internal/dir/fs_linux.go":          "files of the kernel",
	"sidecar/internal/dir/safe.go":              "the accounts of the system",
	"sidecar/internal/lock/holder_linux.go":     "files of the kernel",
	"sidecar/internal/process/proc_linux.go":    "files of the kernel",
	"sidecar/internal/process/process_linux.go": "files of the kernel",
	"sidecar/internal/statedir/create.go":       "a directory, and regular files by its entry",
	"sidecar/internal/statedir/manifest.go":     "a file that it makes",
	"sidecar/retire/command_linux.go":           "files of the kernel",
}

// Every file is opened in one of few places, each of which knows what it opens.
func TestFilesAreOpenedInFewPlaces(t *testing.T) {
	opener := regexp.MustCompile(`^(Open|OpenFile|ReadFile|Openat|Openat2|Create)$`)
	found := map[string]bool{}
	eachFile(t, func(pkg, name, _ string, fset *token.FileSet, file *ast.File) {
		name = filepath.ToSlash(name)
		if inTestKit(pkg) {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok || !opener.MatchString(sel.Sel.Name) {
				return true
			}
			of := types.ExprString(sel.X)
			if !slices.Contains([]string{"os", "unix", "syscall", "root", "ioutil"}, of) && !strings.HasSuffix(of, ".root") {
				return true
			}
			found[name] = true
			if openers[name] == "" {
				t.Errorf("%v: %s.%s opens a file by itself: a pipe in its place would wait for ever; go through one of the places in openers", fset.Position(sel.Pos()), of, sel.Sel.Name)
			}
			return true
		})
	})
	for name := range openers {
		if !found[name] {
			t.Errorf("%s opens no file: take it out of openers", name)
		}
	}
}

// A library gives remedies as data. Only a command knows its own name and flags.
func TestOnlyCommandsNameCommands(t *testing.T) {
	command := regexp.MustCompile("`freehold |freehold (" + strings.Join([]string{"accept", "quarantine", "fold", "doctor", "prune", "state", "adopt", "set", "clear", "explain", "view", "lease", "done", "observe", "gen"}, "|") + `)\b`)
	found := 0
	eachFile(t, func(pkg, name, _ string, fset *token.FileSet, file *ast.File) {
		if strings.HasPrefix(pkg, "cmd/") || inTestKit(pkg) {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING && command.MatchString(lit.Value) {
				t.Logf("%v: a command line in a string outside cmd: return a store.Remedy", fset.Position(lit.Pos()))
				found++
			}
			return true
		})
	})
	limits(t)("command lines in strings outside cmd", found, "command-lines-outside-cmd")
}

// Comments and messages name the thing: see the English of the house.
func TestTextsNameTheThing(t *testing.T) {
	const most = 2 // in a file
	over := 0
	eachFile(t, func(_, name, _ string, _ *token.FileSet, file *ast.File) {
		found := 0
		for _, group := range file.Comments {
			found += len(relativeWord.FindAllString(group.Text(), -1))
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && len(call.Args) > 0 {
				if lit, ok := call.Args[0].(*ast.BasicLit); ok && lit.Kind == token.STRING {
					found += len(relativeWord.FindAllString(lit.Value, -1))
				}
			}
			return true
		})
		if found > most {
			over++
			t.Logf("%s has %d of who, what and their kin, and may have %d: name the process, the owner, the file", name, found, most)
		}
	})
	limits(t)("files with more who and what than that", over, "files-with-relative-words")
}
