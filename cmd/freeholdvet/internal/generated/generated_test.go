package generated_test

import (
	"os"
	"slices"
	"testing"

	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/generated"
	"github.com/freehold-dev/freehold/gen"
	"github.com/freehold-dev/freehold/gen/tree"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/go/packages"
)

// load loads this module's packages with their types.
func load(t *testing.T) []*packages.Package {
	t.Helper()
	loaded, err := packages.Load(&packages.Config{
		Dir:  "../../../..",
		Mode: packages.NeedName | packages.NeedTypes | packages.NeedExportFile,
	}, "./owners/...", generated.Sidecar)
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}

// TestWriterPackagesAreThoseThatGenMakes holds the shape that is looked for
// against the code that is really generated.
func TestWriterPackagesAreThoseThatGenMakes(t *testing.T) {
	module, err := tree.Find(".")
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	states, err := os.ReadDir(module.Dir + "/owners")
	if err != nil {
		t.Fatal(err)
	}
	for _, state := range states {
		src, err := module.Load(module.Dir + "/owners/" + state.Name() + "/" + tree.Declaration)
		if err == nil {
			want = append(want, gen.WriterPackages(src, module.Path)...)
		}
	}
	for _, p := range load(t) {
		if generated.Writer(p.Types) {
			got = append(got, p.PkgPath)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" || len(want) == 0 {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestHandlesAreWhatOnlyTheLibraryTakesApart(t *testing.T) {
	loaded := load(t)
	for _, tc := range []struct {
		path, name string
		want       bool
	}{
		{generated.Sidecar, "Writer", true},
		{generated.Sidecar, "Tx", true},
		{generated.Sidecar, "Value", true},
		{generated.Sidecar, "Counter", true},
		{generated.Sidecar, "Commit", false},
		{generated.Sidecar, "Options", false},
		{generated.Library + "/owners/runtime/cost/internal/costfile", "Tx", true},
		{generated.Library + "/owners/runtime/cost/internal/costfile", "Writer", true},
		{generated.Library + "/owners/runtime", "RestartReason", true},
		{generated.Library + "/owners/runtime", "View", false},
		{generated.Library + "/owners/runtime/cost", "Recorded", false},
	} {
		for _, p := range loaded {
			if p.PkgPath != tc.path {
				continue
			}
			obj := p.Types.Scope().Lookup(tc.name)
			if _, got := generated.Handle(p.Fset, obj.Type()); got != tc.want {
				t.Errorf("%s.%s: got %v", tc.path, tc.name, got)
			}
		}
	}
}
