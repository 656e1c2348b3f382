package adopt

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/schema"
	"github.com/google/go-cmp/cmp"
)

func TestTypesAreInferredFromValues(t *testing.T) {
	one := func(f schema.Field) *schema.Field { return &f }
	remark := func(t schema.Type, doc string) schema.Field { return schema.Field{Type: t, Doc: doc} }
	const ms, sec, local, day = "The numbers look like milliseconds since 1970.", "The numbers look like seconds since 1970.", "The texts look like instants without an offset from UTC.", "The texts look like dates."
	anything := schema.Field{Type: schema.TypeJSON}
	for raw, want := range map[string]schema.Field{
		`true`: truth, `3`: number, `3.0`: {Type: schema.TypeFloat}, `1e3`: {Type: schema.TypeFloat}, `[3, 4.0]`: {Type: schema.TypeList, Of: one(schema.Field{Type: schema.TypeFloat})}, `12345678901234567.5`: {Type: schema.TypeDecimal}, `[9007199254740993, 0.5]`: {Type: schema.TypeList, Of: one(schema.Field{Type: schema.TypeDecimal})}, `-9223372036854775808`: number,
		`18446744073709551615`: {Type: schema.TypeUint}, `18446744073709551616`: {Type: schema.TypeDecimal},
		`0.5`: {Type: schema.TypeFloat}, `1e300`: {Type: schema.TypeFloat}, `0.1000000000000000055`: {Type: schema.TypeDecimal}, `1e400`: anything,
		`"x"`: text, `""`: text, `"12.5"`: text, `"90s"`: {Type: schema.TypeDuration}, `"1m30s"`: {Type: schema.TypeDuration}, `"0"`: text, `"+5s"`: text, `"2026-08-11"`: remark(schema.TypeString, day), `"2026-08-11T09:12:44"`: remark(schema.TypeString, local),
		`1764006605022`: remark(schema.TypeInt, ms), `1764006605`: remark(schema.TypeInt, sec), `1764006605.25`: remark(schema.TypeFloat, sec), `1764`: number, `"18:01:25"`: text,
		`"2026-08-11T09:12:44.031Z"`: moment, `"2026-08-10T08:02:11+0100"`: moment, `"0001-01-01T00:00:00Z"`: moment,
		`null`: anything, `{}`: anything,
		`["a", "b"]`: {Type: schema.TypeList, Of: &text}, `[1, 2.5]`: {Type: schema.TypeList, Of: one(schema.Field{Type: schema.TypeFloat})},
		`[]`: anything, `[1, "a"]`: {Type: schema.TypeList, Of: &anything}, `[[1]]`: anything,
		`{"host": "x", "Port": 80}`:  {Type: schema.TypeRecord, Fields: spec{"host": text, "port": {Type: schema.TypeInt, Legacy: "Port"}}},
		`{"": 1}`:                    anything,
		`{"fact:1": 3, "rule:2": 4}`: {Kind: schema.Map, Value: &number},
		`{"a": {"n": 1, "o": 1}, "b": {"n": 2, "o": 1, "m": 3}}`: {Kind: schema.Map, Record: spec{"n": number, "m": number, "o": number}},
		`{"a": {"n": 1}, "b": {"n": 2, "m": 3}}`:                 {Type: schema.TypeRecord, Fields: spec{"a": {Type: schema.TypeRecord, Fields: spec{"n": number}}, "b": {Type: schema.TypeRecord, Fields: spec{"n": number, "m": number}}}},
		`{"totalRuns": 1, "failedRuns": 2}`:                      {Type: schema.TypeRecord, Fields: spec{"total_runs": {Type: schema.TypeInt, Legacy: "totalRuns"}, "failed_runs": {Type: schema.TypeInt, Legacy: "failedRuns"}}},
		`{"00000000-0000-4000-8000-000000000001": {"ok": true}}`: {Kind: schema.Map, Record: spec{"ok": truth}},
		`{"/home/me": 1}`: {Kind: schema.Map, Value: &number}, `{"192.0.2.1:27015": 1}`: {Kind: schema.Map, Value: &number}, `{"1001": 1}`: {Kind: schema.Map, Value: &number},
		`{"2026-01-28": 1}`: {Kind: schema.Map, Value: &number}, `{"a@example.com": 1}`: {Kind: schema.Map, Value: &number}, `{"model-a-1": 1}`: {Kind: schema.Map, Value: &number},
		`{"1001": {"a": 1}, "1002": {"b": 1}}`: {Kind: schema.Map, Value: &anything}, `{"1001": null}`: {Kind: schema.Map, Value: &anything},
		`{"alpha": 1, "100m": 2}`:                                 {Kind: schema.Map, Value: &number},
		`[{"by": {"model-a-1": 5}}]`:                              {Type: schema.TypeList, Of: one(schema.Field{Type: schema.TypeRecord, Fields: spec{"by": remark(schema.TypeJSON, keysAreData)}})},
		`{"$schema": "x", "last-checked": "y", "window.zoom": 1}`: {Type: schema.TypeRecord, Fields: spec{"schema": {Type: schema.TypeString, Legacy: "$schema"}, "last_checked": {Type: schema.TypeString, Legacy: "last-checked"}, "window_zoom": {Type: schema.TypeInt, Legacy: "window.zoom"}}},
		`{"a": {"n": null}, "b": {"n": 2}}`:                       {Kind: schema.Map, Record: spec{"n": number}},
		`{"a": 1, "b": 2}`:                                        {Type: schema.TypeRecord, Fields: spec{"a": number, "b": number}},
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

// Null and an empty list say nothing: their type is that of the same key elsewhere, and
// the doc says so, or else json.
func TestNullIsGuessedFromTheSameKey(t *testing.T) {
	seen := func(t schema.Type) schema.Field {
		return schema.Field{Type: t, Doc: unseen + ", by the value of cost."}
	}
	for raw, want := range map[string]schema.Field{
		`{"cost": null}`: {Type: schema.TypeJSON}, `{"cost": []}`: {Type: schema.TypeJSON}, `{"closed_at": null, "cost": null}`: {Type: schema.TypeJSON},
		`{"total_cost": 1, "cost": null}`:                                                    {Type: schema.TypeJSON},
		`{"a": {"cost": 1, "b": [{"cost": 2.5}]}, "cost": null}`:                             seen(schema.TypeFloat),
		`{"a": {"cost": 1, "b": {"cost": "x"}}, "cost": null}`:                               {Type: schema.TypeJSON},
		`{"a": {"cost": "1h"}, "cost": null}`:                                                seen(schema.TypeDuration),
		`{"a": {"cost": ["x"]}, "cost": []}`:                                                 {Type: schema.TypeList, Of: &text, Doc: unseen + ", by the value of cost."},
		`{"a": {"cost": ["x"]}, "cost": null}`:                                               {Type: schema.TypeList, Of: &text, Doc: unseen + ", by the value of cost."},
		`{"a": {"cost": 1}, "cost": []}`:                                                     {Type: schema.TypeJSON},
		`{"a": {"cost": [null]}, "cost": []}`:                                                {Type: schema.TypeList, Of: &schema.Field{Type: schema.TypeJSON}, Doc: unseen + ", by the value of cost."},
		`{"cost": null, "a": ` + strings.ReplaceAll(nested(deepest-1), "port", "cost") + `}`: seen(schema.TypeInt),
		`{"cost": null, "a": ` + strings.ReplaceAll(nested(deepest), "port", "cost") + `}`:   {Type: schema.TypeJSON},
	} {
		if diff := cmp.Diff(want, inferred(t, raw)["cost"]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", raw, diff)
		}
	}
}

// Two spellings of one name are two fields, and each says so.
func TestTwoSpellingsAreRemarked(t *testing.T) {
	want := spec{
		"last_checked":   {Type: schema.TypeTime, Doc: "The file has this as lastChecked too."},
		"last_checked_2": {Type: schema.TypeTime, Legacy: "lastChecked", Doc: "The file has this as last_checked too."},
		"other":          text,
	}
	if diff := cmp.Diff(want, inferred(t, `{"lastChecked": "2022-04-21T13:34:24+05:30", "last_checked": "2022-04-21T13:39:01+05:30", "other": "i-1"}`)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func inferred(t *testing.T, raw string) spec {
	fields, _ := Infer(parsed(t, raw))
	return fields
}

// A file whose keys are data is one map, also with one or two of them.
func TestAFileOfDataKeysIsAMap(t *testing.T) {
	for raw, want := range map[string]schema.Field{
		`{"44000001": {"name": "North", "available": 0}, "44000002": {"name": "South", "available": 0}}`: {Kind: schema.Map, Legacy: schema.LegacyFile, Record: spec{"name": text, "available": number}},
		`{"00000000-0000-4000-8000-000000000001": {"allowed": false}}`:                                   {Kind: schema.Map, Legacy: schema.LegacyFile, Record: spec{"allowed": truth}},
	} {
		if diff := cmp.Diff(spec{"entries": want}, inferred(t, raw)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", raw, diff)
		}
	}
	want := spec{"total_runs": {Type: schema.TypeInt, Legacy: "totalRuns"}, "ok_runs": {Type: schema.TypeInt, Legacy: "okRuns"}, "failed_runs": {Type: schema.TypeInt, Legacy: "failedRuns"}}
	if diff := cmp.Diff(want, inferred(t, `{"totalRuns":1,"failedRuns":2,"okRuns":3}`)); diff != "" {
		t.Errorf("names in another style (-want +got):\n%s", diff)
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
