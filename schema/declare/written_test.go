//go:build unix

package declare_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/schema/declare"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// TestSchemasTakeWhatIsWritten writes every right value of every type, of every
// kind and in every place through sidecar, and holds the files and the views
// against the schemas. Every wrong value is refused.
func TestSchemasTakeWhatIsWritten(t *testing.T) {
	d := allTypes()
	for name, o := range d.Owners {
		o.Durability = schema.Process
		d.Owners[name] = o
	}
	dir := filepath.Join(t.TempDir(), "runtime")
	if err := sidecar.Create(dir, d); err != nil {
		t.Fatal(err)
	}
	text, err := declare.SidecarSchema(d, "all")
	file := compile(t, text, err)
	text, err = declare.ViewSchema(d)
	whole := compile(t, text, err)
	w, err := sidecar.Open(t.Context(), dir, nil, "all", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	try := func(op sidecar.Op, right bool) {
		t.Helper()
		_, err := w.Update(t.Context(), func(tx *sidecar.Tx) error {
			tx.Apply(op)
			return nil
		})
		if (err == nil) != right {
			t.Errorf("%+v: right %v: %v", op, right, err)
		}
		if err == nil {
			checkWritten(t, dir, file, whole)
		}
	}
	for _, typ := range schema.Types() {
		field := "a_" + string(typ)
		for right, values := range map[bool][]string{true: typeValues[typ][0], false: wrongValues(typ)} {
			for _, value := range values {
				if !right && normalizes(typ, value) {
					continue // another spelling of a value
				}
				try(sidecar.Op{Field: field, Verb: schema.VerbSet, Value: []byte(value)}, right)
			}
		}
	}
	for _, op := range []sidecar.Op{
		{Field: "a_value", Verb: schema.VerbSet}, {Field: "a_max", Verb: schema.VerbRaise}, {Field: "a_min", Verb: schema.VerbLower},
		{Field: "a_counter", Verb: schema.VerbAdd}, {Field: "a_set", Verb: schema.VerbInsert}, {Field: "a_set", Verb: schema.VerbRemove},
		{Field: "a_map", Verb: schema.VerbAdd, Key: "a/b é", Member: "uses"},
	} {
		for value, right := range map[string]bool{`7`: true, `0`: true, `"7"`: false, `-1`: false, `null`: false, ``: false} {
			op.Value = []byte(value)
			try(op, right)
		}
	}
	try(sidecar.Op{Field: "a_once", Verb: schema.VerbSet, Value: []byte(`"2026-08-11T09:12:44Z"`)}, false)
	if won, _, err := w.Claim(t.Context(), "a_once"); err != nil || !won {
		t.Fatalf("won %v: %v", won, err)
	}
	try(sidecar.Op{Field: "a_map", Verb: schema.VerbInsert, Key: "__proto__"}, true)
	try(sidecar.Op{Field: "a_map", Verb: schema.VerbSet, Key: "x", Member: "target", Value: []byte(`{"tags":["a"],"more":null}`)}, true)
	try(sidecar.Op{Field: "a_map", Verb: schema.VerbDelete, Key: "a/b é"}, true)
	try(sidecar.Op{Field: "a_scalar_map", Verb: schema.VerbRaise, Key: "x", Value: []byte(`"2026-08-11T09:12:44+02:00"`)}, true)
	try(sidecar.Op{Field: "a_scalar_map", Verb: schema.VerbRaise, Key: "", Value: []byte(`"2026-08-11T09:12:44Z"`)}, false)
}

// normalizes reports whether value is one of the type after all, in a form that
// is not that of a sidecar.
func normalizes(typ schema.Type, value string) bool {
	_, err := allTypes().Owners["all"].Fields["a_"+string(typ)].Normalize([]byte(value))
	return err == nil
}

func checkWritten(t *testing.T, dir string, file, whole *jsonschema.Schema) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "all.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := validate(t, file, string(text)); err != nil {
		t.Errorf("the sidecar is not valid: %v\n%s", err, text)
	}
	r, err := reader.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	v, err := r.View(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if text, err = v.MarshalJSON(); err != nil {
		t.Fatal(err)
	}
	if err := validate(t, whole, string(text)); err != nil {
		t.Errorf("the view is not valid: %v\n%s", err, text)
	}
	if owner, ok := v.Owner("all"); !ok || owner.Status != store.OK || !strings.Contains(string(text), fmt.Sprint(owner.Version.Revision)) {
		t.Errorf("the view shows %+v", owner)
	}
}
