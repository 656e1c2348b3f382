package declare_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/schema/declare"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"
)

// compile compiles a JSON Schema as a strict user would: formats count.
func compile(t testing.TB, text []byte, err error) *jsonschema.Schema {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("file:///schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("file:///schema.json")
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return s
}

func validate(t testing.TB, s *jsonschema.Schema, instance string) error {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(instance))
	if err != nil {
		t.Fatalf("%v\n%s", err, instance)
	}
	return s.Validate(doc)
}

// allTypes declares a field of every type under the type's name, one of
// another owner, and one of every kind.
func allTypes() *schema.Declaration {
	o := schema.Owner{Doc: "Everybody.", Fields: map[string]schema.Field{}}
	for _, typ := range schema.Types() {
		o.Fields["a_"+string(typ)] = schema.Field{Type: typ, Doc: "One of type " + string(typ) + "."}
	}
	mood := schema.Field{Type: schema.TypeEnum, Values: []string{"dead-process", "pane-frozen"}}
	target := map[string]schema.Field{
		"port": {Type: schema.TypeUint, Doc: "Its port.", Unit: "ports"},
		"mood": mood,
		"tags": {Type: schema.TypeList, Of: &schema.Field{Type: schema.TypeString}},
		"more": {Type: schema.TypeJSON},
	}
	o.Fields["a_enum"] = mood
	o.Fields["a_list"] = schema.Field{Type: schema.TypeList, Of: &schema.Field{Type: schema.TypeRecord, Fields: target}}
	o.Fields["a_record"] = schema.Field{Type: schema.TypeRecord, Fields: target}
	for _, kind := range slices.DeleteFunc(schema.Kinds(), schema.Kind.OnWriter) {
		o.Fields["a_"+string(kind)] = schema.Field{Type: schema.TypeUint, Kind: kind, Doc: "Prompt tokens.", Unit: "tokens"}
	}
	o.Fields["a_once"] = schema.Field{Type: schema.TypeTime, Kind: schema.Once, Doc: "Who came first."}
	o.Fields["a_map"] = schema.Field{Kind: schema.Map, Keys: true, Record: map[string]schema.Field{
		"uses": {Type: schema.TypeUint, Kind: schema.Counter, Doc: "How often."}, "target": {Type: schema.TypeRecord, Fields: target},
	}}
	o.Fields["a_scalar_map"] = schema.Field{Kind: schema.Map, Value: &schema.Field{Type: schema.TypeTime, Kind: schema.Max}}
	other := schema.Owner{Fields: map[string]schema.Field{
		"foreign": {Type: schema.TypeBool},
		"a_map":   {Kind: schema.Map, Record: map[string]schema.Field{"pinned": {Type: schema.TypeBool}}},
	}}
	return &schema.Declaration{State: "runtime", Owners: map[string]schema.Owner{"all": o, "other": other}}
}

const envelope = `"$sidecar":{"format":1,"owner":"all","state":"5s0h2q8v1c3d4e5f6g7h8i9j0k","epoch":1786439564031000,"nonce":"8c3tabcdefghi","revision":7,` +
	`"written_at":"2026-08-11T09:12:44.031Z","writer":{"program":"stop-hook","identity":{"boot":"6f1c","pid_ns":4026531836,"pid":4711,"start":1234,"nonce":"8c3tabcdefghi8c3tabcdefghi","pidfd":99}},` +
	`"fields":{"a_uint":{"version":"1786439564031000.7.8c3tabcdefghi","at":"2026-08-11T09:12:44.031Z","program":"stop-hook","pid":4711}},` +
	`"recent":["8c3tabcdefghi"],"sum":"` + "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08" + `"}`

func sidecarWith(members string) string {
	if members != "" {
		members = "," + members
	}
	return "{" + envelope + members + "}"
}

// typeValues are values of each type: the first list is right, the second is
// wrong.
var typeValues = map[schema.Type][2][]string{
	schema.TypeBool: {{`true`, `false`}, {`0`, `"true"`, `[]`, `{}`}},
	schema.TypeInt: {{`0`, `-1`, `9223372036854775807`, `-9223372036854775808`},
		{`1.5`, `"1"`, `9223372036854775808`, `-9223372036854775809`, `true`}},
	schema.TypeUint:  {{`0`, `41487`, `18446744073709551615`}, {`-1`, `18446744073709551616`, `0.5`, `"0"`}},
	schema.TypeFloat: {{`0`, `-1.5`, `1e300`, `5e-324`, `1.7976931348623157e308`}, {`"1"`, `1e309`, `-1e309`, `true`}},
	schema.TypeDecimal: {{`"0"`, `"0.844694"`, `"-12.5"`, `"100"`, `"` + strings.Repeat("9", 40) + `"`, `"0.` + strings.Repeat("0", 39) + `1"`},
		{`12.5`, `""`, `"1e3"`, `"1.50"`, `"01"`, `".5"`, `"5."`, `"+1"`, `"-0"`, `"NaN"`, `"` + strings.Repeat("9", 41) + `"`, `" 1"`}},
	schema.TypeString: {{`""`, `"0b7c1c1e"`, `"é\n\u0000"`}, {`1`, `true`, `["a"]`, `"` + strings.Repeat("x", schema.MaxString+1) + `"`}},
	schema.TypeTime: {{`"2026-08-11T09:12:44.031Z"`, `"2026-08-11T09:12:44Z"`, `"0001-01-01T00:00:00.000000001Z"`, `"9999-12-31T23:59:59.999999999Z"`},
		{`"2026-08-11"`, `"2026-02-30T00:00:00Z"`, `"2026-08-11T09:12:44+01:00"`, `"2026-08-11T09:12:44+0100"`, `"2026-08-11T09:12:44.030Z"`, `"2026-08-11T25:00:00Z"`, `"2026-08-11T23:59:60Z"`, `1786439564`, `""`, `"now"`}},
	schema.TypeDuration: {{`"0s"`, `"1m30s"`, `"-1.5s"`, `"1ns"`, `"2.5µs"`, `"250ms"`, `"2562047h47m16.854775807s"`},
		{`"90"`, `90`, `"1 m"`, `""`, `"1d"`, `"P1D"`, `"1m"`}},
	schema.TypeEnum: {{`"dead-process"`, `"pane-frozen"`}, {`"pane-frozn"`, `"Pane-Frozen"`, `""`, `0`, `true`}},
	schema.TypeList: {{`[]`, `[{}]`, `[{"port":1},{"tags":[]}]`}, {`{}`, `"a"`, `[1]`, `[null]`, `[{"prot":1}]`, `[{"port":"1"}]`, `[[]]`}},
	schema.TypeRecord: {{`{}`, `{"port":0}`, `{"mood":"pane-frozen","more":null,"port":18446744073709551615,"tags":["a","a",""]}`},
		{`[]`, `""`, `{"port":null}`, `{"prot":1}`, `{"port":-1}`, `{"mood":"x"}`, `{"tags":[1]}`, `{"Port":1}`}},
	schema.TypeJSON: {{`null`, `true`, `1e999`, `"x"`, `[]`, `{"a":[null,{"b":{}}]}`}, nil},
}

func TestSidecarSchemaTakesEveryTypesValuesAndNoOthers(t *testing.T) {
	text, err := declare.SidecarSchema(allTypes(), "all")
	s := compile(t, text, err)
	for _, typ := range schema.Types() {
		f := allTypes().Owners["all"].Fields["a_"+string(typ)]
		for _, value := range typeValues[typ][0] {
			if err := validate(t, s, sidecarWith(fmt.Sprintf(`"a_%s":%s`, typ, value))); err != nil {
				t.Errorf("%s does not take %s: %v", typ, value, err)
			}
			if _, err := f.Normalize([]byte(value)); err != nil {
				t.Errorf("%s is no value of %s after all: %v", value, typ, err)
			}
		}
		for _, value := range wrongValues(typ) {
			if validate(t, s, sidecarWith(fmt.Sprintf(`"a_%s":%s`, typ, value))) == nil {
				t.Errorf("%s takes %.60s", typ, value)
			}
		}
	}
}

// wrongValues are values that are not of the type: null is one of all types
// but json.
func wrongValues(typ schema.Type) []string {
	if typ == schema.TypeJSON {
		return nil
	}
	return append(typeValues[typ][1], `null`)
}

// TestSchemasTakeWhatCodecsWrite holds the patterns against the one form that
// each codec writes.
func TestSchemasTakeWhatCodecsWrite(t *testing.T) {
	d := allTypes()
	text, err := declare.SidecarSchema(d, "all")
	s := compile(t, text, err)
	spelled := map[schema.Type]*rapid.Generator[string]{
		schema.TypeInt:      rapid.Map(rapid.Int64(), func(v int64) string { return fmt.Sprint(v) }),
		schema.TypeUint:     rapid.Map(rapid.Uint64(), func(v uint64) string { return fmt.Sprint(v) }),
		schema.TypeFloat:    rapid.Map(rapid.Float64Range(-1e308, 1e308), func(v float64) string { return fmt.Sprint(v) }),
		schema.TypeDecimal:  rapid.StringMatching(`"-?(0|[1-9][0-9]{0,30})(\.[0-9]{1,30})?"`),
		schema.TypeString:   rapid.Map(rapid.String(), quoted),
		schema.TypeTime:     rapid.StringMatching(`"[12][0-9]{3}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])T(0[0-9]|1[0-9]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,9})?(Z|[+-]0[0-9]:[0-5][0-9])"`),
		schema.TypeDuration: rapid.Map(rapid.StringMatching(`-?[0-9]{1,6}(\.[0-9]{1,3})?(ns|us|ms|s|m|h)`), quoted),
	}
	rapid.Check(t, func(t *rapid.T) {
		for typ, values := range spelled {
			spelling := values.Draw(t, string(typ))
			raw, err := d.Owners["all"].Fields["a_"+string(typ)].Normalize([]byte(spelling))
			if err != nil {
				t.Fatalf("%s: %s: %v", typ, spelling, err)
			}
			doc, err := jsonschema.UnmarshalJSON(strings.NewReader(sidecarWith(fmt.Sprintf(`"a_%s":%s`, typ, raw))))
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Validate(doc); err != nil {
				t.Fatalf("%s: %s: %v", typ, raw, err)
			}
		}
	})
}

func quoted(s string) string {
	text, _ := json.Marshal(s)
	return string(text)
}

// Case 113: a schema takes what every kind may hold.
func TestSidecarSchemaTakesEveryKind(t *testing.T) {
	text, err := declare.SidecarSchema(allTypes(), "all")
	s := compile(t, text, err)
	for _, kind := range []schema.Kind{schema.Value, schema.Max, schema.Min, schema.Counter} {
		if err := validate(t, s, sidecarWith(fmt.Sprintf(`"a_%s":5`, kind))); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		if validate(t, s, sidecarWith(fmt.Sprintf(`"a_%s":"5"`, kind))) == nil {
			t.Errorf("%s takes a string", kind)
		}
	}
	for value, ok := range kindValues {
		if err := validate(t, s, sidecarWith(value)); (err == nil) != ok {
			t.Errorf("%s: valid %v, want %v: %v", value, err == nil, ok, err)
		}
	}
}

// kindValues are sets and maps, right and wrong.
var kindValues = map[string]bool{
	`"a_set":[]`:            true,
	`"a_set":[1,2,10]`:      true,
	`"a_set":[1,1]`:         false,
	`"a_set":["1"]`:         false,
	`"a_set":{}`:            false,
	`"a_set":1`:             false,
	`"a_map":{}`:            true,
	`"a_map":{"a/b é.":{}}`: true,
	`"a_map":{"__proto__":{"uses":1,"target":{"port":1}}}`: true,
	`"a_map":{"":{}}`:               false,
	`"a_map":{"a\nb":{}}`:           false,
	`"a_map":{"a":1}`:               false,
	`"a_map":{"a":null}`:            false,
	`"a_map":{"a":{"uses":"1"}}`:    false,
	`"a_map":{"a":{"uses":null}}`:   false,
	`"a_map":{"a":{"pinned":true}}`: false, // another owner's
	`"a_map":{"a":{"usse":1}}`:      false,
	`"a_map":[]`:                    false,
	`"a_map":{"` + strings.Repeat("k", schema.MaxKey) + `":{}}`:  true,
	`"a_map":{"k` + strings.Repeat("k", schema.MaxKey) + `":{}}`: false,
	`"a_scalar_map":{"a":"2026-08-11T09:12:44Z"}`:                true,
	`"a_scalar_map":{"a":1}`:                                     false,
	`"a_scalar_map":{"a":{}}`:                                    false,
}

// TestSidecarSchemaKnowsOnlyItsOwnersFields: absence is fine, a foreign or
// unknown field is not.
//
// Case 113: and nothing that is another owner's, or nobody's.
func TestSidecarSchemaKnowsOnlyItsOwnersFields(t *testing.T) {
	text, err := declare.SidecarSchema(allTypes(), "all")
	s := compile(t, text, err)
	for members, ok := range map[string]bool{
		``:                                     true,
		`"$schema":"./schema/all.schema.json"`: true,
		`"a_bool":true,"a_uint":1`:             true,
		`"foreign":true`:                       false,
		`"unknown":1`:                          false,
		`"A_bool":true`:                        false,
		`"$schema":1`:                          false,
	} {
		if err := validate(t, s, sidecarWith(members)); (err == nil) != ok {
			t.Errorf("%s: valid %v, want %v: %v", members, err == nil, ok, err)
		}
	}
	if validate(t, s, `{"a_bool":true}`) == nil {
		t.Error("a file without $sidecar is valid")
	}
}

// TestEnvelopeSchemaLeavesRoomForLater: a newer release may add to $sidecar,
// but what this one knows must be right.
func TestEnvelopeSchemaLeavesRoomForLater(t *testing.T) {
	text, err := declare.SidecarSchema(allTypes(), "all")
	s := compile(t, text, err)
	for _, test := range []struct {
		from, to string
		ok       bool
	}{
		{`"format":1`, `"format":1,"later":{"a":[1]}`, true},
		{`"identity":{`, `"identity":{"later":1,`, true},
		{`"pid":4711}}`, `"pid":4711,"observed":{"x":"1.2.0000000000003"}}}`, true},
		{`"pid":4711}}`, `"pid":4711,"keys":{"a/b":"1.2.8c3tabcdefghi"}}}`, true},
		{`"pid":4711}}`, `"pid":4711,"keys":{"a/b":"1.2"}}}`, false},
		{`"pid":4711}}`, `"pid":4711,"keys":["a"]}}`, false},
		{`"fields":{`, `"fields":{"of_a_newer_release":{"version":"1.1.8c3tabcdefghi","at":"2026-08-11T09:12:44Z","program":"","pid":1},`, true},
		{`"recent":`, `"folded":["x"],"recent":`, true},
		{`"recent":`, `"taken":12,"left":[3,7],"recent":`, true},
		{`"recent":`, `"taken":-1,"recent":`, false},
		{`"recent":`, `"left":["3"],"recent":`, false},
		{`"boot":"6f1c","pid_ns":4026531836,`, ``, true},
		{`"format":1`, `"format":2`, false},
		{`"format":1`, `"format":"1"`, false},
		{`"owner":"all"`, `"owner":"other"`, false},
		{`"epoch":1786439564031000`, `"epoch":-1`, false},
		{`"epoch":1786439564031000`, `"epoch":9007199254740992`, false},
		{`"revision":7,`, ``, false},
		{`"nonce":"8c3tabcdefghi","revision"`, `"nonce":"x","revision"`, false},
		{`09:12:44.031Z","writer"`, `09:12:44","writer"`, false},
		{`"pid":4711,"start"`, `"pid":-1,"start"`, false},
		{`"version":"1786439564031000.7.8c3tabcdefghi"`, `"version":7`, false},
		{`"recent":["8c3tabcdefghi"]`, `"recent":[1]`, false},
		{`"sum":"9f`, `"sum":"`, false},
		{`"fields":{"a_uint"`, `"fields":{"A uint"`, false},
	} {
		instance := strings.Replace(sidecarWith(`"a_uint":1`), test.from, test.to, 1)
		if instance == sidecarWith(`"a_uint":1`) {
			t.Fatalf("%s is not in the envelope", test.from)
		}
		if err := validate(t, s, instance); (err == nil) != test.ok {
			t.Errorf("%s for %s: valid %v, want %v: %v", test.to, test.from, err == nil, test.ok, err)
		}
	}
}

// TestSidecarSchemaSaysWhoOwnsWhat reads the text itself: what a validator
// ignores, and what is lost most easily when a schema is marshalled.
func TestSidecarSchemaSaysWhoOwnsWhat(t *testing.T) {
	text, err := declare.SidecarSchema(allTypes(), "all")
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Schema     string `json:"$schema"`
		Owner      string `json:"x-freehold-owner"`
		Additional *bool  `json:"additionalProperties"`
		Properties map[string]struct {
			Kind        string `json:"x-freehold-kind"`
			Owner       string `json:"x-freehold-owner"`
			Description string
		}
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if got.Additional == nil || *got.Additional {
		t.Error("additionalProperties is not literally false")
	}
	if got.Schema != "https://json-schema.org/draft/2020-12/schema" || got.Owner != "all" {
		t.Errorf("$schema %q, owner %q", got.Schema, got.Owner)
	}
	for _, kind := range []schema.Kind{schema.Value, schema.Max, schema.Min, schema.Counter, schema.Set} {
		p := got.Properties["a_"+string(kind)]
		description := "Prompt tokens. Unit: tokens."
		if kind == schema.Set {
			description += " Sorted."
		}
		if p.Kind != string(kind) || p.Owner != "all" || p.Description != description {
			t.Errorf("a_%s: %+v", kind, p)
		}
	}
	if !strings.HasSuffix(string(text), "}\n") || strings.Contains(string(text), `\u00`) {
		t.Error("the text does not end in a line end, or has needless escapes")
	}
}

func TestSchemasRefuseWhatTheyDoNotKnow(t *testing.T) {
	d := allTypes()
	if _, err := declare.SidecarSchema(d, "nobody"); err == nil || !strings.Contains(err.Error(), "its owners are all and other") {
		t.Errorf("an undeclared owner: %v", err)
	}
	d.Owners["other"].Fields["x"] = schema.Field{Type: "money"}
	if _, err := declare.SidecarSchema(d, "other"); err == nil || !strings.HasPrefix(err.Error(), "field x: ") {
		t.Errorf("an unknown type: %v", err)
	}
	if _, err := declare.ViewSchema(d); err == nil || !strings.HasPrefix(err.Error(), "field x: ") {
		t.Errorf("an unknown type: %v", err)
	}
}
