package tree_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"

	"github.com/freehold-dev/freehold/gen/tree"
	"github.com/freehold-dev/freehold/sidecar/scratch"
)

func init() { scratch.Guard() }

// requireFreehold lets the module in dir use this one: the same requirements,
// and a replace directive.
func requireFreehold(t *testing.T, dir string) {
	t.Helper()
	library := find(t, ".")
	read := func(name string) []byte {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	file, err := modfile.Parse("go.mod", read(filepath.Join(library.Dir, "go.mod")), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		file.AddModuleStmt("example.com/corner"),
		file.AddRequire(library.Path, "v0.0.0"),
		file.AddReplace(library.Path, "", library.Dir, ""),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	text, err := file.Format()
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "go.mod", string(text))
	write(t, dir, "go.sum", string(read(filepath.Join(library.Dir, "go.sum"))))
}

func TestCheckCompilesWhatIsNotWrittenYet(t *testing.T) {
	dir := lay(t, "-- owners/shop/owners.yaml --\n"+shopYAML)
	requireFreehold(t, dir)
	before := contents(t, dir)
	m, p := plan(t, dir, "owners/shop/owners.yaml")
	if err := m.Check(t.Context(), p); err != nil {
		t.Errorf("new files: %v", err)
	}
	if got := names(contents(t, dir), before); got != "" {
		t.Errorf("Check wrote %s", got)
	}
	apply(t, dir, "owners/shop/owners.yaml")
	// A field goes away that a file by hand in the view's package uses: the
	// generated code must be written all the same, for the user to go on.
	write(t, dir, "owners/shop/by_hand.go", "package shop\n\nfunc Mood(v View) string { m, _ := v.Mood().Get(); return m.String() }\n")
	write(t, dir, "owners/shop/owners.yaml", strings.ReplaceAll(shopYAML, "mood", "temper"))
	m, p = plan(t, dir, "owners/shop/owners.yaml")
	if err := m.Check(t.Context(), p); err != nil {
		t.Errorf("a mistake by hand stops generating: %v", err)
	}
	// The control: a mistake in the generated code is found.
	for i, c := range p.Write {
		if filepath.Base(c.Path) == "freehold.go" {
			p.Write[i].New = append(c.New, "\nvar _ int = \"\"\n"...)
		}
	}
	if err := m.Check(t.Context(), p); err == nil || errors.Is(err, tree.ErrUnchecked) || !strings.Contains(err.Error(), "cannot use") {
		t.Errorf("a mistake in the generated code: got %v", err)
	} else {
		said.Same(t, "check: generated code that does not compile", err, dir, "DIR")
	}
}

// TestANewModuleBuildsAndRuns is the whole way with the real toolchain: vet
// all that is generated, and run a program in a home and a test of the state.
func TestANewModuleBuildsAndRuns(t *testing.T) {
	dir := lay(t, "-- owners/shop/owners.yaml --\n"+shopYAML+`
-- cmd/manager/main.go --
package main

import (
	"context"
	"fmt"
	"os"

	"example.com/corner/cmd/manager/internal/managerfile"
	"example.com/corner/owners/shop"
	"github.com/freehold-dev/freehold/sidecar"
)

func main() {
	ctx := context.Background()
	w, err := managerfile.Open(ctx, os.Args[1], &sidecar.Options{Create: true})
	exit(err)
	c, err := w.Update(ctx, func(tx managerfile.Tx) error {
		tx.Mood().Set(shop.MoodGood())
		return nil
	})
	exit(err)
	exit(w.Close())
	r, err := shop.Open(os.Args[1])
	exit(err)
	v, err := r.View(ctx)
	exit(err)
	mood, err := v.Mood().Get()
	fmt.Println(c.Outcome, mood, err)
}

func exit(err error) {
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}
-- owners/shop/shop_test.go --
package shop_test

import (
	"errors"
	"reflect"
	"testing"

	"example.com/corner/owners/shop"
	"example.com/corner/owners/shop/shoptest"
	"github.com/freehold-dev/freehold/reader"
)

func TestShop(t *testing.T) {
	v := shoptest.View(t, shoptest.Customers(2), shoptest.Customers(3))
	if n, err := v.Customers().Get(); n != 5 || err != nil {
		t.Errorf("customers %d, %v", n, err)
	}
	if _, err := v.Mood().Get(); !errors.Is(err, reader.ErrUnset) {
		t.Errorf("mood: %v", err)
	}
	generated := *shop.Declaration()
	if generated.Module != "example.com/corner" {
		t.Errorf("the generated code is of module %q", generated.Module)
	}
	generated.Module = ""
	if !reflect.DeepEqual(v.Raw().Declaration(), &generated) {
		t.Errorf("the manifest says %+v", v.Raw().Declaration())
	}
	var mood shop.Mood
	if err := mood.UnmarshalText([]byte("bad")); err != nil || mood != shop.MoodBad() || mood.String() != "bad" {
		t.Errorf("mood %q, %v", mood, err)
	}
	if err := mood.UnmarshalText([]byte("worse")); err == nil || err.Error() != "want good or bad, not \"worse\"" || mood != (shop.Mood{}) {
		t.Errorf("mood %q, %v", mood, err)
	}
}
`)
	requireFreehold(t, dir)
	apply(t, dir, "owners/shop/owners.yaml")
	for _, args := range [][]string{
		{"vet", "./..."},
		{"test", "./..."},
		{"run", "./cmd/manager", filepath.Join(t.TempDir(), "state")},
	} {
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		if args[0] == "run" && string(out) != "applied good <nil>\n" {
			t.Errorf("the program printed %q", out)
		}
	}
}

// TestGeneratedCodeIsCurrent is the drift test of this module's own states.
func TestGeneratedCodeIsCurrent(t *testing.T) {
	m := find(t, ".")
	states, err := m.States()
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, file := range states {
		if !strings.HasPrefix(file, "owners/") {
			continue
		}
		found++
		if _, p := plan(t, m.Dir, filepath.FromSlash(file)); summary(p) != "" {
			t.Errorf("the files generated from %s are not current; run\n\n\tgo run ./cmd/freehold gen %s\n\n%s%s", file, file, summary(p), p.Diff())
		}
	}
	if found == 0 {
		t.Error("no owners.yaml below owners")
	}
}
