package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/schema/declare"
)

// patched declares a field of each type and kind, and a map of several owners.
const patched = `state: s
owners:
  all:
    durability: process
    fields:
      a_bool: {type: bool}
      a_int: {type: int}
      a_uint: {type: uint}
      a_float: {type: float}
      a_decimal: {type: decimal}
      a_string: {type: string}
      a_time: {type: time}
      a_duration: {type: duration}
      a_enum: {type: enum, values: [x, y]}
      a_json: {type: json}
      a_list: {type: list, of: {type: record, fields: {name: {type: string}, at: {type: time}}}}
      a_record: {type: record, fields: {n: {type: int}, d: {type: duration}}}
      a_max: {type: time, kind: max}
      a_min: {type: int, kind: min}
      a_counter: {type: decimal, kind: counter}
      a_once: {type: time, kind: once}
      a_event: {type: time, kind: event}
      a_set: {type: decimal, kind: set}
      a_dependent: {type: int, depends_on: [source]}
      values: {kind: map, value: {type: duration, kind: max}}
      table: {kind: map, keys: true, record: {uses: {type: uint, kind: counter}, tag: {type: string}}}
  other:
    fields:
      source: {type: int}
      labels: {type: string, kind: set}
      table: {kind: map, record: {pinned: {type: bool}, seen: {type: time, kind: max}}}
  third:
    fields:
      sums: {kind: map, value: {type: int, kind: counter}}
`

// spellings are JSON values by type: some in forms that a sidecar would not have, and some
// that are none of the type.
var spellings = map[schema.Type][]string{
	schema.TypeBool:     {"true", "0"},
	schema.TypeInt:      {"0", "-3", "1e2", "-0", "0.5", "9223372036854775808", `"1"`},
	schema.TypeUint:     {"1", "-3", "18446744073709551615", "18446744073709551616"},
	schema.TypeFloat:    {"1", "1e308", "-0.5", `"1"`},
	schema.TypeDecimal:  {`"1"`, `"-0.50"`, `"1e3"`, `"+1"`, `"01"`, `"1."`, `"12.5 "`, "1"},
	schema.TypeString:   {`""`, `"x"`, "1"},
	schema.TypeTime:     {`"2026-08-11T09:12:44.031Z"`, `"2026-08-11T09:12:44-23:59"`, `"2026-08-11T09:12:44,5Z"`, `"2026-08-11 09:12:44Z"`, `"2026-08-11t09:12:44z"`, "1"},
	schema.TypeDuration: {`"1h"`, `"90s"`, `"1h0m5.5s"`, `"-.5s"`, `"+5ms"`, `"1.us"`, `"3µs"`, `"3μs"`, `"0"`, `"-0"`, `"5"`, `"1d"`},
	schema.TypeEnum:     {`"x"`, `"z"`},
	schema.TypeJSON:     {"null", `{"deep":[{"x":null}]}`, "1e2"},
	schema.TypeList:     {"[]", `[{"name":"n","at":"2026-08-11T09:12:44+02:00","more":1}]`, `[{"name":1}]`, "{}"},
	schema.TypeRecord:   {"{}", `{"n":1,"d":"60s","more":[null]}`, `{"n":"1"}`, "[]"},
}

// operations returns patches of one operation on a field: its own verbs with all
// spellings, and each other verb. part names the part of a map.
func operations(field string, f schema.Field, part string) (all []string) {
	add := func(verb, value string) {
		all = append(all, fmt.Sprintf(`[{"field":%q,"op":%q%s%s}]`, field, verb, part, value))
	}
	for _, verb := range []string{"set", "clear", "add", "raise", "lower", "insert", "remove", "delete", "done", "put", "claim", "begin", "bad"} {
		add(verb, "")
		if f.CheckVerb(schema.Verb(verb)) != nil {
			add(verb, `,"value":1`)
			continue
		}
		for _, value := range append(spellings[f.Type], "null", `"y"`) {
			add(verb, `,"value":`+value)
		}
	}
	return all
}

// patches returns patches of an owner, and of others' fields.
func patches(d *schema.Declaration, owner string) (all []string) {
	for _, other := range d.OwnerNames() {
		for _, name := range d.Owners[other].FieldNames() {
			f := d.Owners[other].Fields[name]
			if other != owner {
				f.Type = ""
			}
			all = append(all, operations(name, f, "")...)
			if f.EffectiveKind() != schema.Map {
				continue
			}
			value := schema.Field{Kind: schema.Map}
			if f.Value != nil {
				value = *f.Value
			}
			all = append(all, operations(name, value, `,"key":"k"`)...)
			all = append(all, operations(name, schema.Field{Kind: schema.Map}, `,"key":""`)...)
			for _, member := range f.MemberNames() {
				all = append(all, operations(name, f.Record[member], `,"key":"k","at":"","member":"`+member+`"`)...)
			}
		}
	}
	return append(all, "[]", "null", "{}", "[null]", `[{}]`, `[{"field":"a_int"}]`, `[{"op":"clear"}]`, `[{"field":"nobody","op":"set","value":1}]`, `[{"field":"a_int","op":"clear","key":"","member":"","seen":""}]`,
		`[{"field":"a_int","op":"clear","key":null,"at":null}]`, `[{"field":"a_int","op":"clear","key":"k"}]`, `[{"field":"a_int","op":"clear","val":1}]`, `[{"field":"a_int","op":"clear","value":1}]`,
		`[{"field":"table","op":"set","key":"k","member":"nobody","value":1}]`, `[{"field":"table","op":"delete","key":"k","at":"1.1.0123456789abc"}]`, `[{"field":"table","op":"delete","key":"k","member":"uses"}]`)
}

// A validator answers for each patch of an owner whether it is valid.
type validator func(t *testing.T, text []byte, patches []string) []bool

func santhosh(t *testing.T, text []byte, patches []string) (valid []bool) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("file:///patch.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("file:///patch.json")
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, patch := range patches {
		instance, err := jsonschema.UnmarshalJSON(strings.NewReader(patch))
		if err != nil {
			t.Fatalf("%v: %s", err, patch)
		}
		valid = append(valid, s.Validate(instance) == nil)
	}
	return valid
}

const ajvScript = `const Ajv = require('ajv/dist/2020');
const {schema, patches} = JSON.parse(require('fs').readFileSync(0));
const ajv = new (Ajv.default || Ajv)({strict: true, strictTypes: false, strictRequired: false, allowUnionTypes: true});
for (const word of ['x-freehold-owner', 'x-freehold-kind', 'x-freehold-depends-on']) ajv.addKeyword(word);
const valid = ajv.compile(schema);
console.log(JSON.stringify(patches.map(p => valid(JSON.parse(p)))));`

func ajv(t *testing.T, text []byte, patches []string) (valid []bool) {
	in, err := json.Marshal(map[string]any{"schema": json.RawMessage(text), "patches": patches})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", "-e", ajvScript)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &valid)
	}
	if err != nil {
		t.Fatalf("ajv: %v", err)
	}
	return valid
}

// The schema of an owner's patches has stock keywords alone: each validator accepts each
// patch that apply accepts, and refuses each operation on another owner's field.
func TestPatchSchemaAcceptsAsApplyDoes(t *testing.T) {
	source, err := declare.Parse("owners.yaml", "owners/s", []byte(patched))
	if err != nil {
		t.Fatal(err)
	}
	d := source.Declaration
	dir, file := filepath.Join(t.TempDir(), "state"), filepath.Join(t.TempDir(), "owners.yaml")
	if err := os.WriteFile(file, []byte(patched), 0o666); err != nil {
		t.Fatal(err)
	}
	if r := call(t, "", "state", "init", "--dir", dir, "--owners", file); r.Status != 0 {
		t.Fatal(r.Stderr)
	}
	for _, owner := range d.OwnerNames() {
		if r := call(t, `[{"field":"table","op":"insert","key":"k"}]`, "apply", "all", "--dir", dir); r.Status != 0 {
			t.Fatal(r.Stderr)
		}
		patches := patches(d, owner)
		accepted := make([]bool, len(patches))
		for i, patch := range patches {
			if field := strings.Split(patch, `"`); len(field) > 3 && field[1] == "field" && field[3] != "table" && d.Owners[owner].Fields[field[3]].EffectiveKind() == schema.Value && d.Owners[owner].Fields[field[3]].Type == "" {
				continue // a foreign field: apply_patch has the refusal
			}
			accepted[i] = call(t, patch, "apply", owner, "--dir", dir).Status == 0
		}
		text, err := declare.PatchSchema(d, owner)
		if err != nil {
			t.Fatal(err)
		}
		for name, validate := range map[string]validator{"santhosh-tekuri": santhosh, "ajv": ajv} {
			t.Run(owner+"/"+name, func(t *testing.T) {
				if name == "ajv" && exec.Command("node", "-e", "require('ajv/dist/2020')").Run() != nil {
					t.Skip("node with the module ajv is needed: npm install ajv, and its node_modules in NODE_PATH")
				}
				agree(t, d, owner, patches, accepted, validate(t, text, patches))
			})
		}
	}
}

// agree checks the answers of a validator.
func agree(t *testing.T, d *schema.Declaration, owner string, patches []string, accepted, valid []bool) {
	both, loose := 0, 0
	for i, patch := range patches {
		switch {
		case accepted[i] && !valid[i]:
			t.Errorf("apply accepts %s, and the schema does not", patch)
		case accepted[i]:
			both++
		case valid[i]:
			loose++
		}
		var ops []struct{ Field, Op, Member string }
		if json.Unmarshal([]byte(patch), &ops) != nil || len(ops) != 1 {
			continue
		}
		f, ours := d.Owners[owner].Fields[ops[0].Field]
		if ops[0].Member != "" {
			ours = ours && slices.Contains(f.MemberNames(), ops[0].Member)
		}
		if valid[i] && !ours {
			t.Errorf("the schema accepts a foreign part: %s", patch)
		}
	}
	if both < 4 {
		t.Errorf("apply accepts %d patches: the test shows nothing", both)
	}
	// Those that pass differ from a value in a way that JSON Schema has no word for.
	if loose > both/4+10 {
		t.Errorf("the schema accepts %d patches that apply refuses, beside %d that it accepts", loose, both)
	}
	t.Logf("%d patches accepted by both, %d by the schema alone", both, loose)
}
