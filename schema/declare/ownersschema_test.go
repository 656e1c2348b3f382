package declare_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/schema/declare"
	"github.com/rogpeppe/go-internal/txtar"
	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"
)

// asJSON turns YAML into JSON, as an editor does that checks it by a schema.
func asJSON(t testing.TB, text []byte) string {
	t.Helper()
	var doc any
	if err := yaml.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestOwnersSchemaTakesWhatParseTakes(t *testing.T) {
	s := compile(t, schema.OwnersSchema, nil)
	runtime, err := os.ReadFile("../../owners/runtime/owners.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{
		"runtime": runtime, "everything": []byte(everything), "tiny": []byte(tiny),
		"template": declare.Template("agent"), "template with a package": declare.Template("type"),
	} {
		if err := validate(t, s, asJSON(t, text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	rapid.Check(t, func(r *rapid.T) {
		text, err := json.Marshal(randomDeclaration(r))
		if err != nil {
			r.Fatal(err)
		}
		if err := validate(t, s, string(text)); err != nil {
			r.Fatalf("%v\n%s", err, text)
		}
	})
}

// TestOwnersSchemaRefusesWhatParseRefuses, as far as one can say it of a
// single value: the mistakes listed are beyond a schema.
func TestOwnersSchemaRefusesWhatParseRefuses(t *testing.T) {
	beyond := map[string]bool{
		"state/keyword": true, "state/predeclared": true, "state/program": true, "state/documentation": true, "state/test": true,
		"state/underscore": true, "state/imported": true, "state/package_keyword": true, "owner/names_reserved": true,
		"home/inside_default": true, "home/shared": true, "home/folder": true,
		"parts/several_owners": true, "parts/identifiers": true,
	}
	s := compile(t, schema.OwnersSchema, nil)
	for _, theme := range []string{"state", "owner", "home", "field", "parts"} {
		archive, err := txtar.ParseFile(filepath.Join("testdata/mistakes", theme+".txtar"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			name := theme + "/" + strings.TrimSuffix(f.Name, ".yaml")
			var doc any
			if !strings.HasSuffix(f.Name, ".yaml") || yaml.Unmarshal(f.Data, &doc) != nil {
				continue // also files with a key twice
			}
			text, err := json.Marshal(doc)
			if err != nil {
				continue // a key that is no text
			}
			refused := validate(t, s, string(text)) != nil
			if wrong := len(wanted(archive, strings.TrimSuffix(f.Name, ".yaml"))) > 0; refused != (wrong && !beyond[name]) {
				t.Errorf("%s: refused by the schema: %v", name, refused)
			}
		}
	}
}

// TestOwnersSchemaExplainsItself: an editor shows the description of whatever
// it completes.
func TestOwnersSchemaExplainsItself(t *testing.T) {
	text := schema.OwnersSchema
	type object struct {
		Description string
		Additional  any `json:"additionalProperties"`
		Properties  map[string]struct{ Description string }
	}
	var root struct {
		object
		Defs map[string]object `json:"$defs"`
	}
	if err := json.Unmarshal(text, &root); err != nil {
		t.Fatal(err)
	}
	root.Defs["the file"] = root.object
	if len(root.Defs) != 9 {
		t.Errorf("%d objects, want 9", len(root.Defs))
	}
	for name, o := range root.Defs {
		if o.Description == "" || o.Additional != false {
			t.Errorf("%s: description %q, additionalProperties %v", name, o.Description, o.Additional)
		}
		for property, p := range o.Properties {
			if p.Description == "" {
				t.Errorf("%s.%s has no description", name, property)
			}
		}
	}
	for _, typ := range schema.Types() {
		if !strings.Contains(string(text), `"`+string(typ)+`"`) {
			t.Errorf("the type %s is not completed", typ)
		}
	}
	for _, kind := range schema.Kinds() {
		if !strings.Contains(string(text), `"`+string(kind)+`"`) {
			t.Errorf("the kind %s is not completed", kind)
		}
	}
}
