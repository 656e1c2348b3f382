package gen_test

import (
	"testing"

	"github.com/freehold-dev/freehold/gen"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/schema/declare"
	"github.com/freehold-dev/freehold/schema/errorstest"
)

const bug = "only a bug in the templates provokes it"

var said = errorstest.Golden{
	Update: update,
	Untold: map[string]string{
		"the generated code does not parse (a bug in Freehold; please report it): %w\n%s": bug,
	},
}

// TestErrorsSayWhatToDo provokes every error of the package.
func TestErrorsSayWhatToDo(t *testing.T) {
	for how, c := range map[string]struct{ folder, state, pkg, home string }{
		"a folder with a space":    {"owners/my shop", "shop", "", ""},
		"a folder that Go ignores": {"testdata/shop", "shop", "", ""},
		"an internal folder":       {"lib/internal/shop", "shop", "", "cmd/till"},
	} {
		src := hostile("plain")
		src.Folder, src.Declaration.State, src.Declaration.Package = c.folder, c.state, c.pkg
		owner := src.Declaration.Owners["till"]
		owner.Home = c.home
		src.Declaration.Owners["till"] = owner
		_, err := gen.Generate(src, shopModule)
		said.Same(t, "generate: "+how, err)
	}
	_, err := gen.Generate(&declare.Source{File: "owners.yaml", Folder: "owners/shop", Declaration: &schema.Declaration{
		State: "shop", Owners: map[string]schema.Owner{"till": {Fields: map[string]schema.Field{"view": enumOf("a")}}},
	}}, shopModule)
	said.Same(t, "generate: two things of one name", err)
}

// TestErrorsAreAllTold fails for an error that no test of the package provokes.
func TestErrorsAreAllTold(t *testing.T) { said.Complete(t) }
