package adopt

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/schema"
	"github.com/google/go-cmp/cmp"
)

// Every value is stored as it was meant, exactly, or is refused.
func TestValuesAreTakenExactlyOrRefused(t *testing.T) {
	decimal, float := schema.Field{Type: schema.TypeDecimal}, schema.Field{Type: schema.TypeFloat}
	uint, duration := schema.Field{Type: schema.TypeUint}, schema.Field{Type: schema.TypeDuration}
	enum := schema.Field{Type: schema.TypeEnum, Values: []string{"dead", "frozen"}}
	anything := schema.Field{Type: schema.TypeJSON}
	times := schema.Field{Type: schema.TypeList, Of: &moment}
	labels := schema.Field{Type: schema.TypeString, Kind: schema.Set}
	record := schema.Field{Type: schema.TypeRecord, Fields: spec{"host": text, "since": {Type: schema.TypeTime, Legacy: "from"}}}
	const unset = "unset"
	for _, tc := range []struct {
		field     schema.Field
		raw, want string // want is empty where the value is refused
	}{
		{moment, `"2026-08-11T09:12:44.031Z"`, `"2026-08-11T09:12:44.031Z"`},
		{moment, `"2026-08-10T08:02:11+0100"`, `"2026-08-10T07:02:11Z"`},
		{moment, `"2026-08-10T08:02:11.5-0730"`, `"2026-08-10T15:32:11.5Z"`},
		{moment, `"2026-08-10T08:02:11+01:00"`, `"2026-08-10T07:02:11Z"`},
		{moment, `"2026-08-10T08:02:11.123456+0000"`, `"2026-08-10T08:02:11.123456Z"`},
		{moment, `"0001-01-01T00:00:00Z"`, unset},
		{moment, `"0001-01-01T00:00:00+0100"`, unset},
		{moment, `"0001-01-01T00:00:00.000Z"`, unset},
		{moment, `"0001-01-01T00:00:00"`, unset},
		{moment, `"0001-06-01T12:00:00Z"`, unset},
		{moment, `"0002-01-01T00:00:00Z"`, `"0002-01-01T00:00:00Z"`},
		{moment, `null`, unset},
		{moment, `"2026-08-10T08:02:11"`, ""},
		{moment, `"2026-08-10T08:02:11+2500"`, ""},
		{moment, `"2026-08-10T08:02:11+25:00"`, ""},
		{moment, `"10000-01-01T00:00:00Z"`, ""},
		{moment, `"2026-13-10T08:02:11+0100"`, ""},
		{moment, `"2026-08-10"`, ""},
		{moment, `""`, ""},
		{moment, `1786439531`, ""},
		{number, `9223372036854775807`, `9223372036854775807`},
		{number, `-9223372036854775808`, `-9223372036854775808`},
		{number, `9223372036854775808`, ""},
		{number, `9007199254740993`, `9007199254740993`},
		{number, `9007199254740993.0`, `9007199254740993`},
		{number, `3.0`, `3`}, {number, `1e3`, `1000`}, {number, `-0`, `0`}, {number, `1.5e1`, `15`},
		{number, `1.5`, ""}, {number, `1e-3`, ""}, {number, `1e400`, ""}, {number, `1e999999999`, ""}, {number, `"3"`, ""}, {number, `true`, ""},
		{number, strings.Repeat("9", 4096), ""},
		{uint, `18446744073709551615`, `18446744073709551615`}, {uint, `18446744073709551616`, ""}, {uint, `-1`, ""},
		{decimal, `12.50`, `"12.5"`}, {decimal, `"12.50"`, `"12.5"`}, {decimal, `0.1`, `"0.1"`}, {decimal, `1e3`, `"1000"`},
		{decimal, `0.1000000000000000055511151231257827`, `"0.1000000000000000055511151231257827"`},
		{decimal, `9007199254740993`, `"9007199254740993"`}, {decimal, `1e999999999`, ""}, {decimal, `-0.0`, `"0"`}, {decimal, `"x"`, ""},
		{float, `0.10`, `0.1`}, {float, `1e400`, ""}, {float, `9007199254740992`, `9007199254740992`}, {float, `9007199254740993`, ""},
		{float, `"0.1"`, ""},
		{duration, `"90s"`, `"1m30s"`}, {duration, `90`, ""},
		{enum, `"frozen"`, `"frozen"`}, {enum, `"Frozen"`, ""}, {enum, `null`, unset},
		{truth, `false`, `false`}, {truth, `0`, ""}, {truth, `"false"`, ""},
		{text, `""`, `""`}, {text, `"null"`, `"null"`}, {text, `"a\u00e9\/"`, `"aé/"`}, {text, `5`, ""},
		{text, `"` + strings.Repeat("x", schema.MaxString+1) + `"`, ""},
		{anything, `null`, `null`}, {anything, `{"z": 1.0, "a": [null, 1E400]}`, `{"z":1.0,"a":[null,1E400]}`},
		{anything, strings.Repeat("[", 49) + strings.Repeat("]", 49), ""},
		{times, `["2026-08-10T08:02:11+0100"]`, `["2026-08-10T07:02:11Z"]`}, {times, `[]`, `[]`},
		{times, `[null]`, ""}, {times, `["0001-01-01T00:00:00Z"]`, ""}, {times, `{}`, ""}, {times, `"x"`, ""},
		{labels, `["b","a","b"]`, `["a","b"]`}, {labels, `[]`, unset}, {labels, `["a",1]`, ""},
		{record, `{"host": "x", "from": "2026-08-10T08:02:11+0100"}`, `{"host":"x","since":"2026-08-10T07:02:11Z"}`},
		{record, `{"host": null}`, `{}`}, {record, `{}`, `{}`}, {record, `{"host": 1}`, ""}, {record, `[]`, ""},
		{record, `{"from": null, "since": null}`, ""},
	} {
		t.Run(fmt.Sprintf("%s/%s/%.40s", tc.field.EffectiveKind(), tc.field.Type, tc.raw), func(t *testing.T) {
			c := &converter{}
			got, ok := c.value(tc.field, spot{"/x", "field x"}, []byte(tc.raw))
			switch {
			case tc.want == "":
				if ok || len(c.misfits) == 0 || len(c.unset) > 0 && tc.field.Type != schema.TypeRecord {
					t.Errorf("got %s, %v, unset %v; want a misfit", got, c.misfits, c.unset)
				}
			case tc.want == unset:
				if ok || len(c.misfits) > 0 || len(c.unset) != 1 || string(c.unset[0].Marker) != tc.raw {
					t.Errorf("got %s, %v, unset %v; want unset", got, c.misfits, c.unset)
				}
			case !ok || string(got) != tc.want || len(c.misfits) > 0:
				t.Errorf("got %s, %v; want %s", got, c.misfits, tc.want)
			}
		})
	}
}

// A file is refused as a whole, and everything that is wrong with it is said
// at once, in its order.
func TestEveryMisfitIsNamedAtOnce(t *testing.T) {
	d := &schema.Declaration{State: "agent", Owners: map[string]schema.Owner{
		"reset": {Fields: spec{"reset_at": latest, "cleared": truth, "target": {Type: schema.TypeRecord, Fields: spec{"port": number}}}},
		"cost":  {Fields: spec{"total": {Type: schema.TypeDecimal, Kind: schema.Counter, Legacy: "cost_total"}, "many": {Type: schema.TypeList, Of: &number}}},
		"tool": {Fields: spec{
			"seen":   {Kind: schema.Map, Keys: true, Value: &number},
			"skills": {Kind: schema.Map, Keys: true, Record: spec{"use_count": counter, "kind": {Type: schema.TypeEnum, Values: []string{"a"}, Legacy: "state"}}},
		}},
	}}
	l, err := Parse("/old/runtime.json", []byte(`{
		"reset_at": "yesterday",
		"cost_total": 1, "total": 2,
		"cleared": "no",
		"nobody's": {"whatever": true},
		"target": {"port": "80", "Port": 80},
		"many": [1, null, 2.5],
		"seen": {"": 1, "a\tb": 2, "ok": 3, "half": 0.5, "null": null},
		"skills": {"deploy": {"use_count": -1, "state": "b", "foo": 1}, "review": 7}
	}`))
	if err != nil {
		t.Fatal(err)
	}
	p, err := l.Plan(d)
	var misfits Misfits
	if p != nil || !errors.As(err, &misfits) {
		t.Fatalf("got %v (%v)", p, err)
	}
	golden(t, "misfits.txt", err.Error()+"\n")
}

// Values that exceed one sidecar are refused before any owner is written.
func TestTooMuchForASidecarIsAMisfit(t *testing.T) {
	l, err := Parse("big.json", fmt.Appendf(nil, `{"list": [%s"x"]}`, strings.Repeat(`"`+strings.Repeat("x", 1000)+`",`, 1100)))
	if err != nil {
		t.Fatal(err)
	}
	_, err = l.Plan(&schema.Declaration{State: "s", Owners: map[string]schema.Owner{"a": {Fields: spec{"list": {Type: schema.TypeList, Of: &text}}}}})
	var misfits Misfits
	if !errors.As(err, &misfits) || len(misfits) != 1 || !strings.Contains(misfits[0].Problem, "more than the 1048576 allowed") {
		t.Errorf("got %v", err)
	}
}

// The keys of a file go to whom they are declared for: first by legacy key.
func TestALegacyKeyGoesBeforeAName(t *testing.T) {
	d := &schema.Declaration{State: "s", Owners: map[string]schema.Owner{
		"a": {Fields: spec{"one": {Type: schema.TypeInt, Legacy: "two"}}},
		"b": {Fields: spec{"two": {Type: schema.TypeInt, Legacy: "one"}, "three": number}},
	}}
	p := planned(t, d, `{"one": 1, "two": 2, "three": 3, "four": 4}`)
	want := []part{
		{"a", []value{{Item: Item{Pointer: "/two", Field: "one", Value: []byte("2")}}}},
		{"b", []value{{Item: Item{Pointer: "/one", Field: "two", Value: []byte("1")}}, {Item: Item{Pointer: "/three", Field: "three", Value: []byte("3")}}}},
	}
	if diff := cmp.Diff(want, p.parts, cmp.AllowUnexported(part{}, value{})); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]Place{{Pointer: "/four"}}, p.Unowned); diff != "" {
		t.Errorf("unowned (-want +got):\n%s", diff)
	}
}

// A map that is the file leaves to other fields only their declared legacy keys:
// every other key may be one of its own.
func TestTheFileItselfCanBeAMap(t *testing.T) {
	d := &schema.Declaration{State: "s", Owners: map[string]schema.Owner{
		"meta": {Fields: spec{"layout": {Type: schema.TypeInt, Legacy: "_version"}, "note": text}},
		"tool": {Fields: spec{"skills": {Kind: schema.Map, Keys: true, Legacy: ".", Value: &number}}},
	}}
	p := planned(t, d, `{"_version": 2, "note": 1, "skills": 3, "a/b": 4, "~": 5, "__proto__": 6}`)
	var got []string
	for _, e := range p.parts[1].values[0].entries {
		got = append(got, fmt.Sprintf("%s at %s is %s", e.Key, e.Pointer, e.Value))
	}
	want := []string{"note at /note is 1", "skills at /skills is 3", "a/b at /a~1b is 4", "~ at /~0 is 5", "__proto__ at /__proto__ is 6"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
	l, err := Parse("x.json", []byte(`{"a": 1, "b": "x", "_version": 0.5, "a/b": "y", "c": null}`))
	if err != nil {
		t.Fatal(err)
	}
	_, err = l.Plan(d)
	var misfits Misfits
	if !errors.As(err, &misfits) || len(misfits) != 3 || misfits[0].Pointer != "/b" || misfits[1].Pointer != "/_version" || misfits[2].Pointer != "/a~1b" {
		t.Errorf("not the misfits in the order of the file: %v", err)
	}
	if len(p.Unowned) > 0 || p.parts[0].values[0].Field != "layout" {
		t.Errorf("unowned %v, the other part %v", p.Unowned, p.parts[0])
	}
}

// The keys of a map are committed before other owners' values at them, also where
// two owners decide keys for each other.
func TestKeysComeBeforeValuesAtThem(t *testing.T) {
	column := func(keys bool, name string) schema.Field {
		return schema.Field{Kind: schema.Map, Keys: keys, Record: spec{name: number}}
	}
	d := &schema.Declaration{State: "s", Owners: map[string]schema.Owner{
		"a": {Fields: spec{"x": column(true, "ax"), "y": column(false, "ay")}},
		"b": {Fields: spec{"x": column(false, "bx"), "y": column(true, "by")}},
		"c": {Fields: spec{"x": column(false, "cx"), "y": column(false, "cy"), "z": number}},
	}}
	p := planned(t, d, `{"x": {"k": {"ax": 1, "bx": 2, "cx": 3}}, "y": {"k": {"ay": 4, "by": 5, "cy": 6}}, "z": 7}`)
	var got []string
	for _, part := range p.parts {
		for _, v := range part.values {
			got = append(got, part.owner+" "+v.Field)
		}
	}
	if diff := cmp.Diff([]string{"a x", "b x", "b y", "a y", "c x", "c y", "c z"}, got); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	r := apply(t, p, newState(t, d))
	if got := len(imported(r)); got != 7 {
		t.Errorf("%d of 7 values were imported: %v", got, imported(r))
	}
}
