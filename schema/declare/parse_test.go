package declare_test

import (
	"os"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/schema/declare"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

func mustParse(t testing.TB, text string) *declare.Source {
	t.Helper()
	src, err := declare.Parse("owners.yaml", "owners/runtime", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// everything uses every key that owners.yaml has.
const everything = `state: runtime
package: agent
owners:
  full:
    doc: |
      Two lines
      of text.
    mode: exclusive
    busy: {wait: 1s, then: fail}
    durability: process
    home: cmd/full
    fields:
      reason:
        type: enum
        kind: value
        values: [a, b]
        doc: Why.
        go: Because
        legacy: cause
      tokens: {type: uint, kind: counter, unit: tokens}
      hosts:
        type: list
        of: {type: record, go: Host, doc: One., fields: {name: {type: string, legacy: n}, port: {type: uint, unit: ports}}}
      labels: {kind: set, type: string}
      seen: {kind: map, value: {type: uint, kind: max}}
      skills: {kind: map, keys: true, go: Talents, record: {uses: {type: uint, kind: counter}, note: {type: json}}}
  bare:
    fields:
      x: {type: bool}
      skills: {kind: map, record: {pinned: {type: bool}}}
`

func TestParseSaysWhatTheFileSays(t *testing.T) {
	got := mustParse(t, everything).Declaration
	want := &schema.Declaration{State: "runtime", Package: "agent", Owners: map[string]schema.Owner{
		"full": {
			Doc: "Two lines\nof text.", Mode: schema.Exclusive, Busy: schema.Busy{Wait: "1s", Then: schema.Fail},
			Durability: schema.Process, Home: "cmd/full", Fields: map[string]schema.Field{
				"reason": {Type: schema.TypeEnum, Kind: schema.Value, Values: []string{"a", "b"}, Doc: "Why.", Go: "Because", Legacy: "cause"},
				"tokens": {Type: schema.TypeUint, Kind: schema.Counter, Unit: "tokens"},
				"hosts": {Type: schema.TypeList, Kind: schema.Value, Of: &schema.Field{Type: schema.TypeRecord, Go: "Host", Doc: "One.", Fields: map[string]schema.Field{
					"name": {Type: schema.TypeString, Legacy: "n"}, "port": {Type: schema.TypeUint, Unit: "ports"},
				}}},
				"labels": {Type: schema.TypeString, Kind: schema.Set},
				"seen":   {Kind: schema.Map, Keys: true, Value: &schema.Field{Type: schema.TypeUint, Kind: schema.Max}},
				"skills": {Kind: schema.Map, Keys: true, Go: "Talents", Record: map[string]schema.Field{
					"uses": {Type: schema.TypeUint, Kind: schema.Counter}, "note": {Type: schema.TypeJSON, Kind: schema.Value},
				}},
			},
		},
		"bare": { // every default filled in
			Mode: schema.Shared, Busy: schema.Busy{Wait: "250ms", Then: schema.Fail}, Durability: schema.Power,
			Home: "owners/runtime/bare", Fields: map[string]schema.Field{
				"x":      {Type: schema.TypeBool, Kind: schema.Value},
				"skills": {Kind: schema.Map, Go: "Talents", Record: map[string]schema.Field{"pinned": {Type: schema.TypeBool, Kind: schema.Value}}},
			},
		},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Parse (-want +got):\n%s", diff)
	}
}

func TestPackageDefaultsToState(t *testing.T) {
	if got := mustParse(t, tiny).Declaration.Package; got != "runtime" {
		t.Errorf("Package = %q, want runtime", got)
	}
}

func TestPlaceIsWhereTheFileNamesIt(t *testing.T) {
	src := mustParse(t, everything)
	type place struct{ Line, Col int }
	got := map[string]place{}
	want := map[string]place{
		"": {1, 1}, "/state": {1, 1}, "/owners/full": {4, 3}, "/owners/bare": {27, 3}, "/owners/full/durability": {10, 5},
		"/owners/full/fields/reason": {13, 7}, "/owners/full/fields/reason/values/1": {16, 21},
		"/owners/full/fields/tokens": {20, 7}, "/owners/full/fields/tokens/unit": {20, 43},
		"/owners/full/fields/hosts/of/fields/port/unit": {23, 110},
		"/owners/bare/fields/x":                         {29, 7},
		"/owners/nobody":                                {3, 1}, "/owners/bare/fields/y": {28, 5}, "/owners/bare/mode": {27, 3},
	}
	for at := range want {
		line, col := src.Place(jsontext.Pointer(at))
		got[at] = place{line, col}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Place (-want +got):\n%s", diff)
	}
}

// TestDefaultHomesFollowTheFolder, also into an internal directory, where an
// explicit home could not be: where owners.yaml stands is for its user to say.
func TestDefaultHomesFollowTheFolder(t *testing.T) {
	for folder, want := range map[string]string{
		".":                  "a",
		"owners/runtime":     "owners/runtime/a",
		"internal/state":     "internal/state/a",
		"app/internal/state": "app/internal/state/a",
		"app/internal":       "app/internal/a",
	} {
		src, err := declare.Parse("owners.yaml", folder, []byte(tiny))
		if err != nil {
			t.Errorf("in %s: %v", folder, err)
			continue
		}
		if got := src.Declaration.Owners["a"].Home; got != want {
			t.Errorf("in %s the home is %s, want %s", folder, got, want)
		}
	}
}

func TestHomesAreComparedWhereverTheFolderIs(t *testing.T) {
	const text = "state: runtime\nowners:\n  a: {home: %, fields: {x: {type: bool}}}\n"
	for _, test := range []struct{ folder, home, want string }{
		{".", "a", ""},
		{".", "schema", `owners.yaml:3:13: the home of owner a, "schema", is a folder that only generated files may be in: choose another`},
		{".", ".", `owners.yaml:3:13: the home of owner a, ".", is the module root, which contains everybody's code: name a folder in it`},
		{"internal/state", "internal/state/x", ""},
		{"internal/state", "internal/state/x/internal", `owners.yaml:3:13: the home of owner a, "internal/state/x/internal", has the element "internal", which means something else to Go: choose another folder`},
		{"internal/state", "internal", `owners.yaml:3:13: the home of owner a, "internal", has the element "internal", which means something else to Go: choose another folder`},
		{"app/internal/state", "app/cmd/a", ""},
		{"app/internal/state", "cmd/a", `owners.yaml:3:13: the home of owner a, "cmd/a", may not import the view package in app/internal/state, which is internal to app: choose a folder in there, or move owners.yaml`},
		{"app/testdata/x", "cmd/a", `owners.yaml:1:8: Go ignores packages in the folder "app/testdata/x", because of "testdata": move owners.yaml`},
		{"app/_x", "cmd/a", `owners.yaml:1:8: Go ignores packages in the folder "app/_x", because of "_x": move owners.yaml`},
		{"my owners", "cmd/a", `owners.yaml:1:8: Go cannot import a package from the folder "my owners", since it holds the character " ": move owners.yaml`},
		{"café/x", "cmd/a", `owners.yaml:1:8: Go cannot import a package from the folder "café/x", since it holds the character "é": move owners.yaml`},
	} {
		_, err := declare.Parse("owners.yaml", test.folder, []byte(strings.Replace(text, "%", test.home, 1)))
		got := ""
		if err != nil {
			got = err.Error()
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("in %s (-want +got):\n%s", test.folder, diff)
		}
	}
}

// TestMistakesOfOneFileComeInOneRun holds that no mistake hides another one.
func TestMistakesOfOneFileComeInOneRun(t *testing.T) {
	const text = `state: Runtime
owners:
  a:
    mode: exclusiv
    busy: {wait: -1s}
    fields:
      x: {type: bol}
      y: {type: bool, kind: max}
      y_: {type: enum}
  b:
    home: ..
    fields:
      x: {type: bool, oops: 1}
`
	want := `owners.yaml:1:8: the state name "Runtime" may have only a-z, 0-9 and _, at most 48 of them, a letter first: write runtime
owners.yaml:4:11: unknown mode "exclusiv" of owner a: did you mean exclusive?
owners.yaml:5:18: the wait of owner a, -1s, is negative: write 0s for no waiting
owners.yaml:7:17: unknown type "bol" of field x: did you mean bool?
owners.yaml:8:29: field y is of kind max, which type bool cannot be: use kind value, or one of the types int, uint, float, decimal, time and duration
owners.yaml:9:7: field y_ becomes Y in Go, and so does field y at owners.yaml:8:7: give one of them another name with "go:"
owners.yaml:9:7: field y_ is an enum without values: add "values: […]"
owners.yaml:11:11: the home of owner b, "..", is outside of the module: name a folder in it
owners.yaml:13:7: owner a declares the field x already, at owners.yaml:7:7: a field has one owner; remove or rename one of the two
owners.yaml:13:23: unknown key "oops" in field x: the keys here are type, kind, values, of, fields, doc, unit, go, legacy, was, record, value, keys and depends_on
`
	if diff := cmp.Diff(want, report(t, text)); diff != "" {
		t.Errorf("Parse (-want +got):\n%s", diff)
	}
}

// TestMessagesUseTheNameGiven: positions are of use only with the path that
// an editor can open.
func TestMessagesUseTheNameGiven(t *testing.T) {
	_, err := declare.Parse("a b/owners.yaml", ".", []byte("state: x\nstate: y\nowners: {a: {fields: {x: {type: bool}}}}"))
	want := `a b/owners.yaml:2:1: "state" is in the file twice, first at a b/owners.yaml:1:1: keep one of them`
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestRuntimeDeclarationHasNoMistakes(t *testing.T) {
	text, err := os.ReadFile("../../owners/runtime/owners.yaml")
	if err != nil {
		t.Fatal(err)
	}
	d := mustParse(t, string(text)).Declaration
	got := map[string][]string{}
	for _, owner := range d.OwnerNames() {
		got[owner] = d.Owners[owner].FieldNames()
		if d.Owners[owner].Doc == "" {
			t.Errorf("owner %s has no doc", owner)
		}
		for name, f := range d.Owners[owner].Fields {
			if !strings.HasSuffix(f.Doc, ".") {
				t.Errorf("the doc of field %s is no sentence: %q", name, f.Doc)
			}
		}
	}
	want := map[string][]string{
		"reset": {"begun", "context_cleared", "last_context_reset_at"},
		"cost": {"closed_at", "last_prompt_observed_at", "last_prompt_tokens", "log_offset", "opened_at",
			"opened_transcript", "total_usd", "turns"},
		"watchdog": {"last_decision", "restart_reason"},
		"lifecycle": {"created_at", "last_error", "runtime_mode", "session_id", "session_state", "shutdown_completed_at",
			"shutdown_requested_at", "tmux_session", "version"},
		"archive": {"last_raw_archive_at", "last_shell_snapshot_at", "transition", "transition_mode", "transition_started_at",
			"transition_target"},
		"assistant": {"waiting_reason", "waiting_since"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("owners (-want +got):\n%s", diff)
	}
}
