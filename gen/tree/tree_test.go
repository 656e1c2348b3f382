package tree_test

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/freehold-dev/freehold/gen/tree"
	"github.com/freehold-dev/freehold/schema/declare"
)

const shopYAML = `state: shop
owners:
  till:
    fields:
      customers: {type: uint, kind: counter, doc: People who came in.}
  manager:
    home: cmd/manager
    fields:
      mood: {type: enum, values: [good, bad], doc: How things are.}
`

const shopModule = "-- go.mod --\nmodule example.com/corner\n-- owners/shop/owners.yaml --\n" + shopYAML

// lay writes a txtar archive below a new directory. Its path has a space and
// letters beyond ASCII.
func lay(t *testing.T, archive string) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "Läden und mehr")
	for _, file := range txtar.Parse([]byte(archive)).Files {
		write(t, dir, file.Name, string(file.Data))
	}
	return dir
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	name = filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// contents returns every file below dir.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(filepath.Join(dir, name))
		files[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func find(t *testing.T, dir string) *tree.Module {
	t.Helper()
	m, err := tree.Find(dir)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// tryPlan plans the state of one declaration.
func tryPlan(t *testing.T, dir, declaration string) (*tree.Module, *tree.Plan, error) {
	t.Helper()
	m := find(t, filepath.Join(dir, filepath.Dir(declaration)))
	src, err := m.Load(filepath.Join(dir, declaration))
	if err != nil {
		t.Fatal(err)
	}
	plans, err := m.Plans([]*declare.Source{src})
	if err != nil {
		return m, nil, err
	}
	return m, plans[0], nil
}

func plan(t *testing.T, dir, declaration string) (*tree.Module, *tree.Plan) {
	t.Helper()
	m, p, err := tryPlan(t, dir, declaration)
	if err != nil {
		t.Fatal(err)
	}
	return m, p
}

// summary has a line for each file that is not current, sorted.
func summary(p *tree.Plan) string {
	var lines []string
	for _, c := range p.Write {
		verb := "changed "
		if c.Old == nil {
			verb = "missing "
		}
		lines = append(lines, verb+c.Path+"\n")
	}
	for _, file := range p.Remove {
		lines = append(lines, "orphaned "+file.Path+"\n")
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

func apply(t *testing.T, dir, declaration string) {
	t.Helper()
	m, p := plan(t, dir, declaration)
	if err := m.Apply(p); err != nil {
		t.Fatal(err)
	}
}

// names returns the names in files that are not in old, joined.
func names(files, old map[string]string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if _, ok := old[name]; !ok {
			b.WriteString(name + "\n")
		}
	}
	return b.String()
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestApplyMakesTheTreeCurrent(t *testing.T) {
	for name, test := range map[string]struct{ folder, home, want string }{
		"owners below the root": {"owners/shop", "", `cmd/manager/internal/managerfile/managerfile.go
owners/shop/OWNERS.md
owners/shop/freehold.go
owners/shop/freehold_manager_fields.go
owners/shop/freehold_till_fields.go
owners/shop/schema/manager.patch.schema.json
owners/shop/schema/manager.schema.json
owners/shop/schema/owners.schema.json
owners/shop/schema/till.patch.schema.json
owners/shop/schema/till.schema.json
owners/shop/schema/view.schema.json
owners/shop/shoptest/shoptest.go
owners/shop/till/internal/tillfile/tillfile.go
`},
		"owners in the root": {".", "", `OWNERS.md
cmd/manager/internal/managerfile/managerfile.go
freehold.go
freehold_manager_fields.go
freehold_till_fields.go
schema/manager.patch.schema.json
schema/manager.schema.json
schema/owners.schema.json
schema/till.patch.schema.json
schema/till.schema.json
schema/view.schema.json
shoptest/shoptest.go
till/internal/tillfile/tillfile.go
`},
	} {
		t.Run(name, func(t *testing.T) {
			dir := lay(t, "-- go.mod --\nmodule example.com/corner\n")
			declaration := filepath.Join(test.folder, "owners.yaml")
			write(t, dir, declaration, shopYAML)
			before := contents(t, dir)
			apply(t, dir, declaration)
			after := contents(t, dir)
			if diff := cmp.Diff(test.want, names(after, before)); diff != "" {
				t.Errorf("files (-want +got)\n%s", diff)
			}
			if _, p := plan(t, dir, declaration); summary(p) != "" {
				t.Errorf("not current after Apply:\n%s", summary(p))
			}
		})
	}
}

// TestApplyWritesOnlyWhatDiffers looks at time stamps: a build system would
// build everything again for each file that is written.
func TestApplyWritesOnlyWhatDiffers(t *testing.T) {
	dir := lay(t, shopModule)
	apply(t, dir, "owners/shop/owners.yaml")
	long := time.Now().Add(-time.Hour).Truncate(time.Second)
	for name := range contents(t, dir) {
		if err := os.Chtimes(filepath.Join(dir, name), long, long); err != nil {
			t.Fatal(err)
		}
	}
	write(t, dir, "owners/shop/OWNERS.md", "<!-- Code generated by freehold from owners.yaml; DO NOT EDIT. -->\n")
	apply(t, dir, "owners/shop/owners.yaml")
	for name := range contents(t, dir) {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if written := !info.ModTime().Equal(long); written != (name == "owners/shop/OWNERS.md") {
			t.Errorf("%s: written %v", name, written)
		}
	}
}

func TestPlanChangesNothing(t *testing.T) {
	dir := lay(t, shopModule)
	before := contents(t, dir)
	if _, p := plan(t, dir, "owners/shop/owners.yaml"); len(p.Write) != 13 {
		t.Errorf("%d files to write, want 13", len(p.Write))
	}
	if diff := cmp.Diff(before, contents(t, dir)); diff != "" {
		t.Errorf("Plan changed files:\n%s", diff)
	}
}

func TestPlanNamesWhatIsInTheWay(t *testing.T) {
	for name, test := range map[string]struct{ archive, want string }{
		"a file by hand":      {"-- owners/shop/freehold.go --\npackage shop\n", "owners/shop/freehold.go is in the way, and Freehold did not generate it: move it"},
		"an owner's by hand":  {"-- owners/shop/freehold_till_fields.go --\npackage shop\n", "owners/shop/freehold_till_fields.go is in the way, and Freehold did not generate it: move it"},
		"package main":        {"-- owners/shop/main.go --\npackage main\n", "owners/shop/main.go is of package main, and freehold.go of package shop is to stand beside it: move owners.yaml to a folder of its own"},
		"package store":       {"-- owners/shop/store.go --\npackage store\n", "owners/shop/store.go is of package store, and freehold.go of package shop is to stand beside it: move owners.yaml to a folder of its own, or say `package: store` in it"},
		"beside a writer":     {"-- cmd/manager/internal/managerfile/x.go --\npackage x\n", "cmd/manager/internal/managerfile/x.go is of package x, and managerfile.go of package managerfile is to stand beside it: move it"},
		"the same package":    {"-- owners/shop/more.go --\npackage shop\n", ""},
		"an excluded program": {"-- owners/shop/make.go --\n//go:build ignore\n\npackage main\n", ""},
		"an outside test":     {"-- owners/shop/x_test.go --\npackage shop_test\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := lay(t, shopModule+test.archive)
			before := contents(t, dir)
			_, _, err := tryPlan(t, dir, "owners/shop/owners.yaml")
			if got := errorText(err); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			if strings.HasPrefix(name, "package") {
				said.Same(t, "plan: in the way: a "+name, err)
			}
			if diff := cmp.Diff(before, contents(t, dir)); diff != "" {
				t.Errorf("Plan changed files:\n%s", diff)
			}
		})
	}
}

func TestStatesListsTheModulesDeclarations(t *testing.T) {
	dir := lay(t, `-- go.mod --
module example.com/corner
-- b/owners.yaml --
-- a/c/owners.yaml --
-- owners.yaml --
-- vendor/x/owners.yaml --
-- other/go.mod --
module example.com/other
-- other/owners.yaml --
`)
	states, err := find(t, dir).States()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a/c/owners.yaml", "b/owners.yaml", "owners.yaml"}, states); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
