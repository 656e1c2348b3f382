package declare_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/schema/declare"
	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"pgregory.net/rapid"
)

// TestEditsKeepEverythingThatStoodThere holds testdata/edit: what becomes of
// each CASE.yaml when CASE.args is added, or the error.
func TestEditsKeepEverythingThatStoodThere(t *testing.T) {
	for _, file := range []string{"testdata/edit/field.txtar", "testdata/edit/owner.txtar"} {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		theme := strings.TrimSuffix(filepath.Base(file), ".txtar")
		var renewed []txtar.File
		var args string
		for _, f := range archive.Files {
			name, isYAML := strings.CutSuffix(f.Name, ".yaml")
			if strings.HasSuffix(f.Name, ".args") {
				args = string(f.Data)
				renewed = append(renewed, f)
			}
			if !isYAML {
				continue
			}
			got, err := addAs(t, args, f.Data)
			if err != nil {
				got = []byte("error: " + err.Error() + "\n")
			}
			renewed = append(renewed, f, txtar.File{Name: name + ".want", Data: got})
			t.Run(theme+"/"+name, func(t *testing.T) {
				if diff := cmp.Diff(wanted(archive, name), string(got)); diff != "" && !*update {
					t.Errorf("(-want +got):\n%s", diff)
				}
				if err == nil {
					checkKept(t, string(f.Data), string(got))
				}
			})
		}
		if *update {
			archive.Files = renewed
			if err := os.WriteFile(file, txtar.Format(archive), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// addAs adds what args says: "owner NAME JSON" or "field OWNER NAME JSON".
func addAs(t *testing.T, args string, text []byte) ([]byte, error) {
	t.Helper()
	what, definition, ok := strings.Cut(args, ` {"`)
	if !ok {
		t.Fatalf("no definition in %q", args)
	}
	words := strings.SplitN(what, " ", 3)
	name := strings.Trim(words[len(words)-1], `"`)
	var into any = new(schema.Field)
	if words[0] == "owner" {
		into = new(schema.Owner)
	}
	if err := json.Unmarshal([]byte(`{"`+definition), into); err != nil {
		t.Fatal(err)
	}
	switch v := into.(type) {
	case *schema.Owner:
		return declare.AddOwner(text, name, *v)
	case *schema.Field:
		return declare.AddField(text, words[1], name, *v)
	}
	panic("unreachable")
}

// checkKept reports a line of before that after does not have, in order;
// line ends have a test of their own.
func checkKept(t interface{ Errorf(string, ...any) }, before, after string) {
	rest := strings.Split(strings.ReplaceAll(after, "\r", ""), "\n")
	for _, line := range strings.Split(strings.ReplaceAll(before, "\r", ""), "\n") {
		i := slices.Index(rest, line)
		if i < 0 {
			t.Errorf("the line %q is lost:\n%s", line, after)
			return
		}
		rest = rest[i+1:]
	}
}

// TestEditsKeepLineEnds, also the lack of one at the end of the file.
func TestEditsKeepLineEnds(t *testing.T) {
	const before = "state: s\r\nowners:\r\n  a:\r\n    fields:\r\n      x: {type: int}"
	for end, want := range map[string]string{
		"":                   before + "\r\n      z: {type: bool}",
		"\r\n":               before + "\r\n      z: {type: bool}\r\n",
		"\r\npackage: p\r\n": before + "\r\n      z: {type: bool}\r\npackage: p\r\n",
	} {
		got, err := declare.AddField([]byte(before+end), "a", "z", schema.Field{Type: schema.TypeBool})
		if diff := cmp.Diff(want, string(got)); diff != "" || err != nil {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
}

// TestEditsDoWhatTheySayOrNothing draws what to add, however odd its texts,
// and where. The result declares just that in addition, or there is none.
func TestEditsDoWhatTheySayOrNothing(t *testing.T) {
	layouts := []string{
		"state: s\nowners:\n  a:\n    fields:\n      x: {type: int} # the first\n  b:\n    fields:\n      w: {type: int}\n",
		"# head\nowners:\n    a: # a\n\n        fields:\n\n            x:\n                type: int\n            # tail\n\n    b:\n        fields: {w: {type: int}}\n# end\nstate: s\n",
		"state: s\r\nowners:\r\n a:\r\n  doc: |\r\n    # no comment\r\n\r\n  fields:\r\n   x: {type: int}\r\n\r\n b:\r\n  fields:\r\n   w: {type: int}",
	}
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
		"", "Plain words.", "yes", "12", "null", "a: b", "# x", "'", `"`, "- x", "a,b", "{x}", "two\nlines", " space ", "é", "%", "@", "|", "~", "0x1", "1e3",
	}))
	edited := 0
	rapid.Check(t, func(t *rapid.T) {
		before := rapid.SampledFrom(layouts).Draw(t, "layout")
		f := schema.Field{
			Type: rapid.SampledFrom(schema.Types()).Draw(t, "type"), Kind: schema.Value,
			Doc: text.Draw(t, "doc"), Unit: text.Draw(t, "unit"), Legacy: text.Draw(t, "legacy"),
		}
		if f.Type == schema.TypeEnum {
			f.Values = rapid.SliceOfN(text, 1, 3).Draw(t, "values")
		}
		name := rapid.OneOf(rapid.StringMatching(schema.NameRule), text).Draw(t, "name")
		asOwner := rapid.Bool().Draw(t, "as owner")
		after, err := declare.AddField([]byte(before), "a", name, f)
		if asOwner {
			after, err = declare.AddOwner([]byte(before), name, schema.Owner{Doc: f.Doc, Fields: map[string]schema.Field{"y": f}})
		}
		if err != nil {
			return
		}
		edited++
		checkKept(t, before, string(after))
		src, err := declare.Parse("owners.yaml", "owners", after)
		if err != nil {
			t.Fatalf("the result does not parse: %v\n%s", err, after)
		}
		owner, field := "a", name
		if asOwner {
			owner, field = name, "y"
		}
		if diff := cmp.Diff(f, src.Declaration.Owners[owner].Fields[field]); diff != "" {
			t.Fatalf("(-want +got):\n%s\n%s", diff, after)
		}
	})
	if edited == 0 {
		t.Error("nothing was ever added")
	}
}

func TestTemplateHasNoMistakes(t *testing.T) {
	for _, state := range []string{"runtime", "a", "go", "type", "main", "string", "null", "yes", "sidecar", "foo_test", "schema", "template"} {
		text := declare.Template(state)
		src, err := declare.Parse("owners.yaml", "owners/"+state, text)
		if err != nil {
			t.Errorf("%v\n%s", err, text)
			continue
		}
		if got := src.Declaration.State; got != state {
			t.Errorf("the state is %s, want %s", got, state)
		}
		if !strings.HasPrefix(string(text), "# yaml-language-server: $schema="+declare.OwnersSchemaPath+"\n") {
			t.Errorf("no line for editors:\n%s", text)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		state := rapid.StringMatching(`[a-z][a-z0-9_]{0,46}[a-z0-9]`).Draw(t, "state")
		if _, err := declare.Parse("owners.yaml", ".", declare.Template(state)); err != nil {
			t.Error(err)
		}
	})
}

// TestTemplateGrows: what freehold init writes, the next commands can edit.
func TestTemplateGrows(t *testing.T) {
	text, err := declare.AddField(declare.Template("agent"), "worker", "note", schema.Field{Type: schema.TypeString, Doc: "A note."})
	for i := range 3 {
		if err == nil {
			text, err = declare.AddOwner(text, fmt.Sprintf("owner%d", i), schema.Owner{Fields: map[string]schema.Field{
				fmt.Sprintf("field%d", i): {Type: schema.TypeUint, Kind: schema.Counter},
			}})
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	got := mustParse(t, string(text)).Declaration
	if diff := cmp.Diff([]string{"owner0", "owner1", "owner2", "worker"}, got.OwnerNames()); diff != "" {
		t.Errorf("owners (-want +got):\n%s", diff)
	}
	checkKept(t, string(declare.Template("agent")), string(text))
}
