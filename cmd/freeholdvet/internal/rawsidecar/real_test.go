package rawsidecar

import (
	"go/types"
	"slices"
	"testing"

	"golang.org/x/tools/go/packages"
)

// harmless lists the functions of the library that neither open a state for
// writing nor change it, nor lock anything: they read, compute, or end a
// process, which is no owner's business alone.
var harmless = map[string][]string{
	"sidecar": {
		"DecodePatchAside", "Ends", "LeaseStatus", "ListAside", "Overlay", "Prepare", "Resolve", "ResolveClaim", "SeenOf", "SortAside", "TokenOf", "Upgraded", "WasAccepted",
	},
	"statedir": {
		"Ancestor", "ClaimFile", "Condition", "FileSystem", "Find", "Folders", "GatheringIn", "IdentityOf", "Instances", "Kept", "Leftovers", "Located", "NewNonce", "NewPace",
		"Open", "OpenInstance", "OpenProcess", "OwnerAside", "OwnerFence", "OwnerLease", "OwnerLock", "OwnerRecord", "Self", "ShellWord", "Sidecar", "User", "ValidNonce",

		"Absent", "Close", "Existing", "Holder", "Inventory", "KeptOut", "Litter", "Locked", "Lost", "Manifest", "ManifestText", "ParseManifest", "Path", "QuarantinePath", "Quarantined",
		"Obstructed", "OwnerObstructed", "ReadFile", "ReadRecord", "ReadStaged", "Same", "SameManifest", "Settled", "StagedPath", "Stamp", "Still", "Strays", "Survey", "Sync", "Unmoved", "Writable",
	},
	"adopt":   {"Extend", "Infer", "Parse", "Read", "Source"},
	"prune":   nil,
	"upgrade": nil,
}

// TestEveryFunctionOfTheLibraryIsJudged keeps the lists from being about the
// functions of yesterday: whoever adds one says on which list it belongs. Other
// types are come by through these functions.
func TestEveryFunctionOfTheLibraryIsJudged(t *testing.T) {
	for path, names := range rawNames {
		loaded, err := packages.Load(&packages.Config{Mode: packages.NeedName | packages.NeedTypes | packages.NeedExportFile}, path)
		if err != nil {
			t.Fatal(err)
		}
		pkg := loaded[0].Types
		judged := map[string]bool{}
		for _, fn := range functions(pkg) {
			judged[fn.Name()] = true
			if listed := slices.Contains(harmless[pkg.Name()], fn.Name()); listed == raw(fn) && fn.Name() != "Close" {
				t.Errorf("%s: it is on the list of what is harmless: %v; it is reported: %v; want one of the two", fn.FullName(), listed, raw(fn))
			}
		}
		for _, name := range slices.Concat(names, harmless[pkg.Name()]) {
			if !judged[name] {
				t.Errorf("%s has no function %s", path, name)
			}
		}
	}
}

// functions returns the exported functions of a package, and the methods of
// its Dir or Plan, if it has one.
func functions(pkg *types.Package) []*types.Func {
	var all []*types.Func
	for _, name := range pkg.Scope().Names() {
		switch obj := pkg.Scope().Lookup(name).(type) {
		case *types.Func:
			if obj.Exported() {
				all = append(all, obj)
			}
		case *types.TypeName:
			if name != "Dir" && name != "Plan" {
				continue
			}
			for method := range types.NewMethodSet(types.NewPointer(obj.Type())).Methods() {
				if method.Obj().Exported() {
					all = append(all, method.Obj().(*types.Func))
				}
			}
		}
	}
	return all
}
