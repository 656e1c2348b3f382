package rawsidecar

import (
	"go/types"
	"path/filepath"
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"
	"golang.org/x/tools/go/packages"
)

func Test(t *testing.T) {
	analysistest.Run(t, filepath.Join(analysistest.TestData(), "src"), Analyzer, "./...")
}

// TestHarmlessFunctionsAreOfTheLibrary keeps names of yesterday off the list.
func TestHarmlessFunctionsAreOfTheLibrary(t *testing.T) {
	for path, names := range harmless {
		loaded, err := packages.Load(&packages.Config{Mode: packages.NeedName | packages.NeedTypes | packages.NeedExportFile}, path)
		if err != nil {
			t.Fatal(err)
		}
		scope := loaded[0].Types.Scope()
		for _, name := range names {
			_, found := scope.Lookup(name).(*types.Func)
			for _, of := range rawTypes[path] {
				if named := scope.Lookup(of); named != nil && !found {
					method, _, _ := types.LookupFieldOrMethod(named.Type(), true, loaded[0].Types, name)
					_, found = method.(*types.Func)
				}
			}
			if !found {
				t.Errorf("%s has no function %s", path, name)
			}
		}
	}
}
