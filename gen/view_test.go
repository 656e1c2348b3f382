package gen_test

import (
	"go/ast"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/freehold-dev/freehold/gen"
	"github.com/freehold-dev/freehold/schema"
)

// An owner's name may be a word that ends a file's name with a meaning for the
// go command: it would leave the fields out on most systems.
func TestOwnersFilesAreBuiltEverywhere(t *testing.T) {
	owners := map[string]schema.Owner{}
	for _, name := range []string{"amd64", "fields", "freehold", "linux", "reset_test", "test", "unix", "windows", "windows_amd64", "x_"} {
		owners[name] = schema.Owner{Home: "owners/" + name + "x", Fields: map[string]schema.Field{"is_" + name: enumOf("a")}}
	}
	d := &schema.Declaration{State: "shop", Owners: owners}
	compiles(t, d)
	src, err := accepted(d, "owners/shop")
	if err != nil {
		t.Fatal(err)
	}
	files := contents(generate(t, src))
	for name := range owners {
		file := "owners/shop/freehold_" + name + "_fields.go"
		if !gen.IsViewFile(path.Base(file)) || !strings.Contains(files[file], "type Is") {
			t.Errorf("%s is not the file with the fields of %s", file, name)
		}
	}
}

func TestViewFilesAreKnownByTheirNames(t *testing.T) {
	for name, want := range map[string]bool{
		"freehold.go": true, "freehold_till_fields.go": true, "freehold_a_b_fields.go": true,
		"freehold_fields.go": false, "freehold__fields.go": false, "till_fields.go": false, "freehold_till.go": false, "shop.go": false, "": false,
	} {
		if got := gen.IsViewFile(name); got != want {
			t.Errorf("%q: got %v", name, got)
		}
	}
}

// An owner's file of the view package changes with that owner's fields alone:
// the file has the fields of no other owner, and the owner's members in the maps
// of others.
func TestOwnersFileHasTheOwnersFieldsOnly(t *testing.T) {
	src, _ := shop(t)
	owner := regexp.MustCompile(`Owner:\s(\w+)\.`)
	fset, trees := parsed(t, generate(t, src))
	entries := map[string][]string{} // of wares, by file
	for _, tree := range trees {
		file := path.Base(fset.Position(tree.Pos()).Filename)
		whose, ok := strings.CutPrefix(file, "freehold_")
		whose, cut := strings.CutSuffix(whose, "_fields.go")
		if !ok || !cut {
			continue
		}
		for _, decl := range tree.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			for _, match := range owner.FindAllStringSubmatch(f.Doc.Text(), -1) {
				if match[1] != whose {
					t.Errorf("%s has %s of owner %s", file, f.Name.Name, match[1])
				}
			}
			if f.Recv != nil {
				if of, ok := f.Recv.List[0].Type.(*ast.Ident); ok && of.Name == "WaresEntry" {
					entries[whose] = append(entries[whose], f.Name.Name)
				}
			}
		}
		if tree.Scope.Lookup("WaresEntry") != nil {
			entries[whose] = append(entries[whose], "the type")
		}
	}
	want := map[string][]string{
		"manager": {"Name", "State", "Supplier", "Tags", "the type"},
		"silent":  {"Liked"},
		"till":    {"Cheapest", "Taken"},
	}
	if diff := cmp.Diff(want, entries); diff != "" {
		t.Errorf("what wares has at a key (-want +got)\n%s", diff)
	}
}

// An owner without a field in the view has no file there: the file would not
// compile.
func TestOwnerWithNothingToShowHasNoFile(t *testing.T) {
	src := hostile("plain")
	src.Declaration.Owners["idle"] = schema.Owner{Home: "cmd/idle"}
	files := generate(t, src)
	for _, file := range files {
		if path.Base(file.Path) == "freehold_idle_fields.go" {
			t.Errorf("%s is generated:\n%s", file.Path, file.Data)
		}
	}
	if err := newModule(t, files).check(); err != nil {
		t.Error(err)
	}
}

func TestTypesAreInTheFileOfTheirFieldsOwner(t *testing.T) {
	src, _ := shop(t)
	files := contents(generate(t, src))
	for name, file := range map[string]string{
		"ShopCondition": "manager", "WaresState": "manager", "WaresSupplier": "manager", "Mood": "manager",
		"Coupon": "till", "LastSaleAddress": "till", "LastSalePaidBy": "till", "CrowdSeen": "till", "Smell": "till",
	} {
		var found []string
		for _, where := range slices.Sorted(maps.Keys(files)) {
			if strings.Contains(files[where], "\ntype "+name+" struct") {
				found = append(found, where)
			}
		}
		if diff := cmp.Diff([]string{"owners/shop/freehold_" + file + "_fields.go"}, found); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}
