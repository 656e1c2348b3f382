package adopt

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/schema"
	"github.com/google/go-cmp/cmp"
)

func TestTypesAreInferredFromValues(t *testing.T) {
	one := func(f schema.Field) *schema.Field { return &f }
	guess := func(t schema.Type) schema.Field { return schema.Field{Type: t, Doc: unseen + "."} }
	anything := schema.Field{Type: schema.TypeJSON}
	for raw, want := range map[string]schema.Field{
		`true`: truth, `3`: number, `3.0`: number, `-9223372036854775808`: number,
		`18446744073709551615`: {Type: schema.TypeUint}, `18446744073709551616`: {Type: schema.TypeDecimal},
		`0.5`: {Type: schema.TypeFloat}, `1e300`: {Type: schema.TypeFloat}, `0.1000000000000000055`: {Type: schema.TypeDecimal}, `1e400`: anything,
		`"x"`: text, `""`: text, `"12.5"`: text, `"90s"`: text, `"2026-08-11"`: text, `"2026-08-11T09:12:44"`: text,
		`"2026-08-11T09:12:44.031Z"`: moment, `"2026-08-10T08:02:11+0100"`: moment, `"0001-01-01T00:00:00Z"`: moment,
		`null`: guess(schema.TypeString), `{}`: anything,
		`["a", "b"]`: {Type: schema.TypeList, Of: &text}, `[1, 2.5]`: {Type: schema.TypeList, Of: one(schema.Field{Type: schema.TypeFloat})},
		`[]`: {Type: schema.TypeList, Of: one(guess(schema.TypeString))}, `[1, "a"]`: {Type: schema.TypeList, Of: &anything}, `[[1]]`: anything,
		`{"host": "x", "Port": 80}`:              {Type: schema.TypeRecord, Fields: spec{"host": text, "port": {Type: schema.TypeInt, Legacy: "Port"}}},
		`{"": 1}`:                                anything,
		`{"fact:1": 3, "rule:2": 4}`:             {Kind: schema.Map, Value: &number},
		`{"a": {"n": 1}, "b": {"n": 2, "m": 3}}`: {Kind: schema.Map, Record: spec{"n": number, "m": number}},
		`{"a": {"n": null}, "b": {"n": 2}}`:      {Kind: schema.Map, Record: spec{"n": number}},
		`{"a": 1, "b": 2}`:                       {Type: schema.TypeRecord, Fields: spec{"a": number, "b": number}},
	} {
		l := parsed(t, `{"field": `+raw+`}`)
		fields, left := Infer(l)
		if diff := cmp.Diff(spec{"field": want}, fields); diff != "" || len(left) > 0 {
			t.Errorf("%s, left %v (-want +got):\n%s", raw, left, diff)
		}
	}
}

func parsed(t *testing.T, text string) *Legacy {
	t.Helper()
	l, err := Parse("old.json", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// nested returns an object with a port in that many arrays.
func nested(arrays int) string {
	return strings.Repeat("[", arrays) + `{"port": 1}` + strings.Repeat("]", arrays)
}

// The type of a null is guessed from similar keys, and the doc says so.
func TestNullIsGuessedFromSimilarKeys(t *testing.T) {
	for raw, want := range map[string]schema.Field{
		`{"closed_at": null}`:                                        {Type: schema.TypeTime, Doc: unseen + ", by its name."},
		`{"waiting_since": null}`:                                    {Type: schema.TypeTime, Doc: unseen + ", by its name."},
		`{"validUntil": null}`:                                       {Type: schema.TypeTime, Legacy: "validUntil", Doc: unseen + ", by its name."},
		`{"is_open": null}`:                                          {Type: schema.TypeBool, Doc: unseen + ", by its name."},
		`{"use_count": null}`:                                        {Type: schema.TypeInt, Doc: unseen + ", by its name."},
		`{"opened_at": 1786436924, "closed_at": null}`:               {Type: schema.TypeInt, Doc: unseen + ", by the value of opened_at."},
		`{"closed_at": null, "opened_at": "yesterday"}`:              {Type: schema.TypeString, Doc: unseen + ", by the value of opened_at."},
		`{"a": {"cost": 1, "b": [{"cost": 2.5}]}, "cost": null}`:     {Type: schema.TypeFloat, Doc: unseen + ", by the value of cost."},
		`{"watchdog_reason": "x", "n_reason": 1, "a_reason": null}`:  {Type: schema.TypeString, Doc: unseen + "."},
		`{"opened_at": 1, "at": {"closed_at": true}, "a_at": null}`:  {Type: schema.TypeTime, Doc: unseen + ", by its name."},
		`{"日本": true, "é": null}`:                                    {Type: schema.TypeString, Legacy: "é", Doc: unseen + "."},
		`{"opened_at": "2026-08-11T07:51:30.902Z", "seen_at": []}`:   {Type: schema.TypeList, Of: &schema.Field{Type: schema.TypeTime, Doc: unseen + ", by the value of opened_at."}},
		`{"r": {"host": "x", "port": 80}, "port": null, "host": {}}`: {Type: schema.TypeInt, Doc: unseen + ", by the value of port."},
		`{"port": null, "a": ` + nested(deepest-1) + `}`:             {Type: schema.TypeInt, Doc: unseen + ", by the value of port."},
		`{"port": null, "a": ` + nested(deepest) + `}`:               {Type: schema.TypeString, Doc: unseen + "."},
	} {
		l := parsed(t, raw)
		fields, _ := Infer(l)
		if !slices.ContainsFunc(slices.Collect(maps.Values(fields)), func(f schema.Field) bool { return cmp.Equal(f, want) }) {
			t.Errorf("%s: no field is %+v: %+v", raw, want, fields)
		}
	}
}

// A file of records that are alike is a map itself; two parts that are may be
// chance.
func TestAFileOfRecordsIsAMap(t *testing.T) {
	raw, err := os.ReadFile("testdata/legacy-usage.json")
	if err != nil {
		t.Fatal(err)
	}
	l := parsed(t, string(raw))
	fields, left := Infer(l)
	want := spec{"entries": {Kind: schema.Map, Legacy: schema.LegacyFile, Record: spec{
		"archived_at": moment, "created_at": moment, "created_by": text, "last_patched_at": moment, "last_used_at": moment, "last_viewed_at": moment,
		"patch_count": number, "pinned": truth, "state": text, "use_count": number, "view_count": number,
	}}}
	if diff := cmp.Diff(want, fields); diff != "" || len(left) > 0 {
		t.Errorf("left %v (-want +got):\n%s", left, diff)
	}
	l = parsed(t, `{"server": {"host": "x"}, "client": {"host": "y"}}`)
	if fields, _ := Infer(l); fields["server"].Type != schema.TypeRecord || fields["client"].Type != schema.TypeRecord {
		t.Errorf("inferred %+v", fields)
	}
}

// A key that no field can hold is left, with the reason; a file too large for one
// owner is reported.
func TestAKeyThatNoFieldCanHoldIsLeft(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 100)
	infer := func(text string) (spec, []Place) {
		l := parsed(t, text)
		return Infer(l)
	}
	fields, places := infer(`{"fine": 1, "deep": ` + deep + `, "list": [[` + deep + `]], "": 1}`)
	if diff := cmp.Diff(spec{"fine": number}, fields); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
	var left []string
	for _, u := range places {
		left = append(left, string(u.Pointer))
	}
	if diff := cmp.Diff([]string{"/deep", "/list", "/"}, left); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
	if fields, left := infer(`{"a b": {"x": ` + deep + `}, "b c": {"x": 1}, "c d": {"x": 2}}`); len(left) != 1 || left[0].Pointer != "/a b" || len(fields) != 2 {
		t.Errorf("of a map with one entry that is too deep: %v, left %v", fields, left)
	}
	if _, left := infer(`{"long": "` + strings.Repeat("x", 600<<10) + `", "longer": "` + strings.Repeat("x", 600<<10) + `"}`); len(left) != 1 || left[0].Pointer != "" {
		t.Errorf("of a file that is too large, left %v", left)
	}
}

// A file of hundreds of values of one type is a map, whatever its keys are called.
func TestHundredsOfKeysAreData(t *testing.T) {
	var text strings.Builder
	for i := range 300 {
		fmt.Fprintf(&text, ", \"k%d\": %d", i, i)
	}
	l := parsed(t, "{"+text.String()[1:]+"}")
	fields, _ := Infer(l)
	if diff := cmp.Diff(spec{"entries": {Kind: schema.Map, Legacy: schema.LegacyFile, Value: &number}}, fields); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A later owners.yaml adds its fields, and its legacy keys replace the manifest's.
func TestALaterDeclarationBringsItsLegacyKeys(t *testing.T) {
	manifest := &schema.Declaration{State: "s", Owners: map[string]schema.Owner{
		"a": {Fields: spec{"one": number, "old": number, "r": {Type: schema.TypeRecord, Fields: spec{"x": number}}}},
	}}
	built := &schema.Declaration{State: "s", Owners: map[string]schema.Owner{
		"a": {Fields: spec{"one": {Type: schema.TypeInt, Legacy: "eins"}, "two": number, "r": {Type: schema.TypeRecord, Fields: spec{"x": {Type: schema.TypeInt, Legacy: "ix"}}}}},
	}}
	d, err := Extend(manifest, built)
	if err != nil {
		t.Fatal(err)
	}
	dir, p := newState(t, manifest), planned(t, d, `{"eins": 1, "two": 2, "old": 3, "r": {"ix": 4}}`)
	apply(t, p, dir)
	if got, want := contents(t, dir)["a"], "old=3\none=1\nr={\"x\":4}\ntwo=2\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	built.Owners["a"].Fields["one"] = text
	_, err = Extend(manifest, built)
	wantError(t, err, schema.ErrDeclaration)
}
