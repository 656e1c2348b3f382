package gen_test

import (
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/schema/declare"
)

// With instances, each function that opens a state takes the id of one: a
// program that forgets the id does not compile.
func TestOpenTakesTheIDOfAnInstance(t *testing.T) {
	const text = "state: shop\ninstances: {by: session_id}\nowners: {till: {fields: {open: {type: bool}}}}\n"
	src, err := declare.Parse("owners.yaml", "owners/shop", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	files := contents(generate(t, src))
	for file, wants := range map[string][]string{
		"owners/shop/till/internal/tillfile/tillfile.go": {
			"func Open(ctx context.Context, dir, id string, o *sidecar.Options) (*Writer, error) {",
			`sidecar.OpenInstance(ctx, dir, id, shop.Declaration(), "till", o)`, "session_id id",
		},
		"owners/shop/freehold.go":          {"func Open(dir, id string) (*Reader, error) {", `"instances": {"by": "session_id"}`},
		"owners/shop/shoptest/shoptest.go": {"func State(t testing.TB, id string, settings ...Setting) string {"},
		"owners/shop/OWNERS.md":            {"There is an instance of this state per `session_id`."},
	} {
		for _, want := range wants {
			if !strings.Contains(files[file], want) {
				t.Errorf("%s lacks %q:\n%s", file, want, files[file])
			}
		}
	}
}
