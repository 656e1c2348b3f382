package rawsidecar

import (
	"go/types"
	"testing"

	"golang.org/x/tools/go/packages"
)

// TestRawNamesExist keeps the list from being about names of yesterday.
func TestRawNamesExist(t *testing.T) {
	for path, names := range rawNames {
		loaded, err := packages.Load(&packages.Config{Mode: packages.NeedTypes | packages.NeedExportFile}, path)
		if err != nil {
			t.Fatal(err)
		}
		scope := loaded[0].Types.Scope()
		for _, name := range names {
			if !hasFunction(scope, name) {
				t.Errorf("%s has no function or method %s", path, name)
			}
		}
	}
}

func hasFunction(scope *types.Scope, name string) bool {
	if _, ok := scope.Lookup(name).(*types.Func); ok {
		return true
	}
	for _, typeName := range scope.Names() {
		obj := scope.Lookup(typeName)
		if m, _, _ := types.LookupFieldOrMethod(types.NewPointer(obj.Type()), true, obj.Pkg(), name); m != nil {
			return true
		}
	}
	return false
}
