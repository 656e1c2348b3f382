package fileio

import (
	"go/types"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// TestTableIsOfFunctionsThatTakeAPath keeps the table true for every package
// that this module can load; the others are of the same authors' making.
func TestTableIsOfFunctionsThatTakeAPath(t *testing.T) {
	loaded, err := packages.Load(&packages.Config{Mode: packages.NeedName | packages.NeedTypes | packages.NeedExportFile},
		"os", "io/ioutil", "github.com/google/renameio/v2", "github.com/google/renameio/v2/maybe", "github.com/rogpeppe/go-internal/lockedfile", "syscall", "golang.org/x/sys/unix")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]*types.Signature{}
	for _, p := range loaded {
		scope := p.Types.Scope()
		for _, name := range scope.Names() {
			switch obj := scope.Lookup(name).(type) {
			case *types.Func:
				known[obj.FullName()] = obj.Signature()
			case *types.TypeName:
				for method := range types.NewMethodSet(types.NewPointer(obj.Type())).Methods() {
					fn := method.Obj().(*types.Func)
					known[fn.FullName()] = fn.Signature()
				}
			}
		}
	}
	for name, effects := range functions {
		if !slices.ContainsFunc(loaded, func(p *packages.Package) bool { return strings.HasPrefix(strings.Trim(name, "(*"), p.PkgPath+".") }) {
			continue
		}
		sig := known[name]
		if sig == nil {
			t.Errorf("there is no %s", name)
			continue
		}
		for _, e := range effects {
			if param := sig.Params().At(e.path); !types.Identical(param.Type(), types.Typ[types.String]) {
				t.Errorf("%s takes no path as argument %d, but %s", name, e.path, param)
			}
		}
	}
}
