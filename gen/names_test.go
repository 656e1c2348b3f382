package gen_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/build"
	"io"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/freehold-dev/freehold/gen"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/schema/declare"
)

// oddNames are names that have been trouble for generators: keywords,
// predeclared names, names of generated things, endings that Go's file names
// give a meaning, and names that become one identifier.
var oddNames = strings.Fields(`
	type func go range select string len error nil true any init main test internal vendor testdata
	new writer reader observed set_f f reset with_f open close view raw tx update declaration if_version version
	state setting field field_x x x_ x__y x_y linux amd64 x_linux x_test x_windows_amd64 documentation
	parse_x restart_reason parse_restart_reason restart_reason_a restart_reason_parse
	json_members some optional rest entry a_entry key keys of elements field_in map_of string_ get or id ids url http_url api_url usd total_usd utf8 s a1 a_1 marshal_text marshal_json unmarshal_json read_byte scan format
	context fmt time decimal jsontext schema sidecar statetest testing ctx dir err fn o r t v w e freehold con nul com1 lpt9`)

// accepted parses d as the owners.yaml of a folder. JSON is YAML too.
func accepted(d *schema.Declaration, folder string) (*declare.Source, error) {
	text, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	return declare.Parse("owners.yaml", folder, text)
}

// TestOddNamesAreRefusedOrCompile gives every odd name to a state, an owner, a
// field, an enum and its value. Either the declaration is refused, with a
// place, or its generated code compiles.
//
// Case 109: a name that Go could misread is refused, or its generated code
// compiles.
func TestOddNamesAreRefusedOrCompile(t *testing.T) {
	odd := append(slices.Clone(oddNames), "_", "9lives", "a-b", "a.b", "été", `x"y`, "x`y", "Error", "String", "fieldName", "", "*/", "a\nb")
	for _, name := range odd {
		t.Run(strconv.Quote(name), func(t *testing.T) {
			t.Parallel()
			compilesEverywhere(t, name)
		})
	}
}

// compilesEverywhere tries a name in each place of a declaration.
func compilesEverywhere(t *testing.T, name string) {
	enum := schema.Field{Type: schema.TypeEnum, Values: []string{name}}
	for where, d := range map[string]*schema.Declaration{
		"state":              {State: name, Owners: map[string]schema.Owner{"till": {Fields: map[string]schema.Field{"a": enumOf("b")}}}},
		"package":            {State: "shop", Package: name, Owners: map[string]schema.Owner{"till": {Fields: map[string]schema.Field{"a": enumOf("b")}}}},
		"owner":              {State: "shop", Owners: map[string]schema.Owner{name: {Fields: map[string]schema.Field{"a": {Type: schema.TypeBool}}}}},
		"field":              {State: "shop", Owners: map[string]schema.Owner{"till": {Fields: map[string]schema.Field{name: {Type: schema.TypeTime}}}}},
		"enum":               {State: "shop", Owners: map[string]schema.Owner{"till": {Fields: map[string]schema.Field{name: enumOf("a", "b")}}}},
		"record":             ofTill(map[string]schema.Field{name: {Type: schema.TypeRecord, Fields: map[string]schema.Field{"a": enumOf("b"), "b": {Type: schema.TypeJSON}}}}),
		"member":             ofTill(map[string]schema.Field{"a": {Type: schema.TypeRecord, Fields: map[string]schema.Field{name: enumOf("b"), "x": {Type: schema.TypeTime}}}}),
		"member of a member": ofTill(map[string]schema.Field{"a": {Type: schema.TypeRecord, Fields: map[string]schema.Field{"b": {Type: schema.TypeRecord, Fields: map[string]schema.Field{name: {Type: schema.TypeBool}}}}}}),
		"element":            ofTill(map[string]schema.Field{"a": {Type: schema.TypeList, Of: &schema.Field{Type: schema.TypeRecord, Go: name, Fields: map[string]schema.Field{"x": {Type: schema.TypeUint}}}}}),
		"list":               ofTill(map[string]schema.Field{name: {Type: schema.TypeList, Of: &enum}}),
		"set":                ofTill(map[string]schema.Field{name: {Kind: schema.Set, Type: schema.TypeEnum, Values: []string{"a"}}}),
		"map":                ofTill(map[string]schema.Field{name: {Kind: schema.Map, Record: map[string]schema.Field{"a": enumOf("b"), "x": {Type: schema.TypeUint, Kind: schema.Counter}}}}),
		"column":             ofTill(map[string]schema.Field{"a": {Kind: schema.Map, Record: map[string]schema.Field{name: enumOf("b"), "x": {Type: schema.TypeUint, Kind: schema.Max}}}}),
		"scalar":             ofTill(map[string]schema.Field{name: {Kind: schema.Map, Value: &schema.Field{Type: schema.TypeEnum, Values: []string{"a"}}}}),
		"state of a map": {State: name, Owners: map[string]schema.Owner{
			"till": {Fields: map[string]schema.Field{"a": {Kind: schema.Map, Keys: true, Record: map[string]schema.Field{"b": enumOf("b")}}, "s": {Kind: schema.Set, Type: schema.TypeEnum, Values: []string{"b"}}}},
			"safe": {Fields: map[string]schema.Field{"a": {Kind: schema.Map, Record: map[string]schema.Field{"c": {Type: schema.TypeList, Of: &enum}}}, "m": {Kind: schema.Map, Value: &schema.Field{Type: schema.TypeEnum, Values: []string{"b"}}}}},
		}},
		"value": {State: "shop", Owners: map[string]schema.Owner{"till": {Fields: map[string]schema.Field{"a": enum}}}},
		"go":    {State: "shop", Owners: map[string]schema.Owner{"till": {Fields: map[string]schema.Field{"a": {Type: schema.TypeEnum, Values: []string{"b"}, Go: name}}}}},
		"home":  {State: "shop", Owners: map[string]schema.Owner{"till": {Home: name, Fields: map[string]schema.Field{"a": {Type: schema.TypeBool}}}}},
	} {
		t.Run(where, func(t *testing.T) { compiles(t, d) })
	}
}

func ofTill(fields map[string]schema.Field) *schema.Declaration {
	return &schema.Declaration{State: "shop", Owners: map[string]schema.Owner{"till": {Fields: fields}}}
}

func enumOf(values ...string) schema.Field {
	return schema.Field{Type: schema.TypeEnum, Values: values}
}

// compiles fails unless d is refused with a place or makes code that compiles.
func compiles(t reporter, d *schema.Declaration) {
	t.Helper()
	src, err := accepted(d, "owners/shop")
	if err != nil {
		if problems := declare.Problems(nil); !errors.As(err, &problems) || problems[0].Line == 0 {
			t.Errorf("refused without a place: %v", err)
		}
		return
	}
	files, err := gen.Generate(src, shopModule)
	if err != nil {
		t.Fatalf("declare accepts and gen refuses: %v", err)
	}
	if err := newModule(t, files).check(); err != nil {
		t.Errorf("the generated code does not compile: %v", err)
	}
	for _, file := range files {
		if strings.HasSuffix(file.Path, ".go") && !builtEverywhere(file) {
			t.Errorf("Go leaves %s out for its name", file.Path)
		}
	}
}

// builtEverywhere reports whether the go command takes file for part of its
// package on every system, which it decides by the file's name too.
func builtEverywhere(file gen.File) bool {
	nowhere := build.Context{GOOS: "nowhere", GOARCH: "nothing", Compiler: "gc", OpenFile: func(string) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(file.Data)), nil
	}}
	ok, err := nowhere.MatchFile(path.Split(file.Path))
	return ok && err == nil && !strings.HasSuffix(file.Path, "_test.go")
}

// TestAcceptedDeclarationsCompile draws declarations of odd names. Run it with
// -rapid.checks=2000 to look further.
//
// Case 111: no name of the user's collides with a generated one.
func TestAcceptedDeclarationsCompile(t *testing.T) {
	name := rapid.OneOf(rapid.SampledFrom(oddNames), rapid.StringMatching(`[a-z][a-z0-9_]{0,12}`))
	value := rapid.OneOf(rapid.SampledFrom(oddNames), rapid.StringMatching(`[a-zA-Z0-9][a-zA-Z0-9._-]{0,12}`))
	draw := drawing{name, value}
	field := rapid.Custom(draw.field)
	owner := rapid.Custom(func(t *rapid.T) schema.Owner {
		return schema.Owner{
			Mode:   rapid.SampledFrom([]schema.Mode{"", schema.Shared, schema.Exclusive}).Draw(t, "mode"),
			Fields: rapid.MapOfN(name, field, 1, 5).Draw(t, "fields"),
		}
	})
	declaration := rapid.Custom(func(t *rapid.T) *schema.Declaration {
		return &schema.Declaration{
			State:  name.Draw(t, "state"),
			Owners: rapid.MapOfN(name, owner, 1, 3).Draw(t, "owners"),
		}
	})
	declaration = rapid.Map(declaration, decideKeys)
	drawn, refused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		d := declaration.Draw(t, "declaration")
		drawn++
		if _, err := accepted(d, "owners/shop"); err != nil {
			refused++
		}
		compiles(t, d)
	})
	if refused*10 > drawn*9 {
		t.Errorf("%d of %d declarations were refused, which proves little", refused, drawn)
	}
}

// A drawing draws fields with names and enum values from two generators.
type drawing struct{ name, value *rapid.Generator[string] }

func (d drawing) field(t *rapid.T) schema.Field {
	switch kind := rapid.SampledFrom(append(schema.Kinds(), "")).Draw(t, "kind"); kind {
	case schema.Map:
		f := schema.Field{Kind: kind, Doc: d.doc(t)}
		if rapid.IntRange(0, 3).Draw(t, "scalar") == 0 {
			of := d.typed(t, 2)
			f.Value = &of
			return f
		}
		f.Record = d.members(t, 2)
		return f
	default:
		f := d.typed(t, 1)
		if kind.Allows(f.Type) {
			f.Kind = kind
		}
		return f
	}
}

// typed draws a value that nests no deeper than declarations may.
func (d drawing) typed(t *rapid.T, nest int) schema.Field {
	f := schema.Field{Type: rapid.SampledFrom(schema.Types()).Draw(t, "type"), Doc: d.doc(t)}
	if nest > schema.MaxNest && (f.Type == schema.TypeList || f.Type == schema.TypeRecord) {
		f.Type = schema.TypeJSON
	}
	switch f.Type {
	case schema.TypeEnum:
		f.Values = rapid.SliceOfNDistinct(d.value, 1, 5, strings.ToLower).Draw(t, "values")
	case schema.TypeList:
		of := d.typed(t, nest+1)
		if of.Type == schema.TypeList {
			of = schema.Field{Type: schema.TypeTime}
		}
		f.Of = &of
	case schema.TypeRecord:
		f.Fields = d.members(t, nest+1)
	}
	return f
}

func (d drawing) members(t *rapid.T, nest int) map[string]schema.Field {
	return rapid.MapOfN(d.name, rapid.Custom(func(t *rapid.T) schema.Field { return d.typed(t, nest) }), 1, 4).Draw(t, "members")
}

func (d drawing) doc(t *rapid.T) string {
	return rapid.OneOf(rapid.Just(""), rapid.SampledFrom(hostileTexts)).Draw(t, "doc")
}

// decideKeys adds, to a map of the first owner, a part of the second, and lets
// the first decide the keys.
func decideKeys(d *schema.Declaration) *schema.Declaration {
	owners := d.OwnerNames()
	for _, name := range d.Owners[owners[0]].FieldNames() {
		f := d.Owners[owners[0]].Fields[name]
		if f.Kind != schema.Map || f.Value != nil || len(owners) == 1 {
			continue
		}
		f.Keys = true
		d.Owners[owners[0]].Fields[name] = f
		part := map[string]schema.Field{"of_the_other": {Type: schema.TypeDecimal, Kind: schema.Min}, "more": enumOf("a", "b")}
		d.Owners[owners[1]].Fields[name] = schema.Field{Kind: schema.Map, Record: part}
	}
	return d
}

// TestClashesOfHandMadeDeclarationsAreErrors covers declarations that no
// owners.yaml made, which package declare never saw.
//
// Case 110.
func TestClashesOfHandMadeDeclarationsAreErrors(t *testing.T) {
	for name, fields := range map[string]map[string]schema.Field{
		"two fields":          {"a_b": {Type: schema.TypeBool}, "a__b": {Type: schema.TypeBool}},
		"an enum and View":    {"view": enumOf("a")},
		"a constant and enum": {"a": {Type: schema.TypeBool}, "field_a": enumOf("b")},
		"two values":          {"a": enumOf("b-c", "b_c")},
	} {
		t.Run(name, func(t *testing.T) {
			src := &declare.Source{File: "owners.yaml", Folder: "owners/shop", Declaration: &schema.Declaration{
				State: "shop", Owners: map[string]schema.Owner{"till": {Fields: fields}},
			}}
			if _, err := gen.Generate(src, shopModule); err == nil || !strings.Contains(err.Error(), "two things are named") {
				t.Errorf("%v make no clash: %v", slices.Sorted(maps.Keys(fields)), err)
			}
		})
	}
}
