package fileflow

import (
	"go/types"
	"testing"

	"golang.org/x/tools/go/packages"
)

// TestTableListsFunctionsThatTakeAPath covers every package that this module
// can load.
func TestTableListsFunctionsThatTakeAPath(t *testing.T) {
	loaded, err := packages.Load(&packages.Config{Mode: packages.NeedName | packages.NeedTypes | packages.NeedExportFile},
		"os", "io/fs", "io/ioutil", "github.com/google/renameio/v2", "github.com/google/renameio/v2/maybe", "github.com/rogpeppe/go-internal/lockedfile", "syscall", "golang.org/x/sys/unix")
	if err != nil {
		t.Fatal(err)
	}
	known, isLoaded := map[string]*types.Signature{}, map[string]bool{}
	for _, p := range loaded {
		isLoaded[p.PkgPath] = true
		for _, name := range p.Types.Scope().Names() {
			switch obj := p.Types.Scope().Lookup(name).(type) {
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
	for _, group := range groups {
		for name, effects := range group.functions {
			found := false
			for _, in := range group.in {
				sig := known[in+"."+name]
				found = found || sig != nil
				for _, e := range effects {
					if sig != nil && !types.Identical(sig.Params().At(e.path).Type(), types.Typ[types.String]) {
						t.Errorf("argument %d of %s.%s is no path", e.path, in, name)
					}
				}
			}
			if isLoaded[group.in[0]] && !found {
				t.Errorf("no package of %v has a function %s", group.in, name)
			}
		}
	}
}
