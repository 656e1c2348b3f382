package gen_test

import (
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/gen"
)

func TestFoldersThatGoCannotUseAreRefused(t *testing.T) {
	for _, test := range []struct{ folder, home, want string }{
		{"owners/my shop", "", `Go cannot import a package from the folder owners/my shop: malformed import path "example.com/corner/owners/my shop": invalid char ' ': rename the folder`},
		{"owners/été", "", "rename the folder"},
		{"testdata/shop", "", "Go ignores packages below testdata"},
		{"_owners", "", "Go ignores packages below _owners"},
		{"lib/internal/shop", "cmd/till", "move owners.yaml out of the internal directory, or the home below lib"},
		{"lib/internal/shop", "lib/till", ""},
		{"internal/shop", "cmd/till", ""},
		{".", "cmd/till", ""},
	} {
		src := hostile("plain")
		src.Folder = test.folder
		owner := src.Declaration.Owners["till"]
		owner.Home = test.home
		src.Declaration.Owners["till"] = owner
		_, err := gen.Generate(src, shopModule)
		switch {
		case test.want == "" && err != nil:
			t.Errorf("%s, home %s: %v", test.folder, test.home, err)
		case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%s, home %s: got %v, want %q", test.folder, test.home, err, test.want)
		}
	}
}
