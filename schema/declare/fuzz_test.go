package declare_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/schema/declare"
	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// FuzzParse holds that Parse ends, with a declaration or with problems, and
// that every problem points into the file.
func FuzzParse(f *testing.F) {
	for _, theme := range []string{"yaml", "clash", "field", "parts"} {
		archive, err := txtar.ParseFile("testdata/mistakes/" + theme + ".txtar")
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range archive.Files {
			if strings.HasSuffix(file.Name, ".yaml") {
				f.Add(file.Data)
			}
		}
	}
	runtime, err := os.ReadFile("../../owners/runtime/owners.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(runtime)
	f.Add([]byte(everything))
	f.Add(declare.Template("agent"))
	f.Fuzz(func(t *testing.T, text []byte) {
		src, err := declare.Parse("owners.yaml", "owners/runtime", text)
		if (src == nil) == (err == nil) {
			t.Fatalf("source %v, error %v", src, err)
		}
		problems, ok := errors.AsType[declare.Problems](err)
		if err != nil && (!ok || len(problems) == 0) {
			t.Fatalf("error %T, want Problems", err)
		}
		for _, p := range problems {
			if p.Line < 1 || p.Line > strings.Count(string(text), "\n")+1 || p.Col < 1 || p.What == "" {
				t.Errorf("a problem outside of the file: %v", p)
			}
		}
		if src != nil {
			for _, owner := range src.Declaration.OwnerNames() {
				if _, err := declare.SidecarSchema(src.Declaration, owner); err != nil {
					t.Errorf("no schema: %v", err)
				}
			}
		}
	})
}

// FuzzAddField holds that an edit of any file that reads without a mistake
// adds the field and keeps every line, or says that it cannot.
func FuzzAddField(f *testing.F) {
	archive, err := txtar.ParseFile("testdata/edit/field.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range archive.Files {
		if strings.HasSuffix(file.Name, ".yaml") {
			f.Add(file.Data)
		}
	}
	f.Add([]byte(everything))
	f.Fuzz(func(t *testing.T, text []byte) {
		src, err := declare.Parse("owners.yaml", ".", text)
		if err != nil {
			return // there is nothing to add a field to
		}
		owners := src.Declaration.OwnerNames()
		for _, owner := range owners[:min(len(owners), 4)] { // each wants the file to be read five times
			after, err := declare.AddField(text, owner, "added_by_the_fuzzer", schema.Field{Type: schema.TypeBool, Kind: schema.Value})
			if err != nil {
				continue
			}
			checkKept(t, string(text), string(after))
			want := src.Declaration
			want.Owners[owner].Fields["added_by_the_fuzzer"] = schema.Field{Type: schema.TypeBool, Kind: schema.Value}
			if got, err := declare.Parse("owners.yaml", ".", after); err != nil || !cmp.Equal(want, got.Declaration) {
				t.Errorf("%v\n%s", err, after)
			}
			delete(want.Owners[owner].Fields, "added_by_the_fuzzer")
		}
	})
}
