package schema

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// The fields that the tests here are about.
var (
	target = Field{Type: TypeRecord, Fields: map[string]Field{"host": {Type: TypeString}, "port": {Type: TypeUint}, "more": {Type: TypeJSON}}}
	hosts  = Field{Type: TypeList, Of: &target}
	nested = Field{Type: TypeRecord, Fields: map[string]Field{"target": target, "tags": {Type: TypeList, Of: &Field{Type: TypeString}}}}
	labels = Field{Kind: Set, Type: TypeString}
	ports  = Field{Kind: Set, Type: TypeInt}
	spans  = Field{Kind: Set, Type: TypeDuration}
	seen   = Field{Kind: Map, Value: &Field{Type: TypeUint, Kind: Max}}
	skills = Field{Kind: Map, Record: map[string]Field{"uses": {Type: TypeUint, Kind: Counter}, "target": target}}
)

func TestNormalizePutsPartsInTheirOneForm(t *testing.T) {
	for _, test := range []struct {
		name      string
		f         Field
		raw, want string
	}{
		{"members are sorted", target, `{ "port" : 1, "host":"a\u0062" }`, `{"host":"ab","port":1}`},
		{"no members", target, ` {} `, `{}`},
		{"unknown members keep their bytes", target, `{"zone":{"r":1.0,"z\u0031":[ 1 ]},"host":"a"}`, `{"host":"a","zone":{"r":1.0,"z\u0031":[ 1 ]}}`},
		{"a null in JSON", target, `{"more":null}`, `{"more":null}`},
		{"elements keep their order", hosts, `[{"port":2,"host":"b"}, {}]`, `[{"host":"b","port":2},{}]`},
		{"records in records", nested, `{"tags":["b","a"],"target":{"port":1,"host":"x"}}`, `{"tags":["b","a"],"target":{"host":"x","port":1}}`},
		{"text by its bytes", labels, `["b","a\u0301","B","b","é"]`, "[\"B\",\"a\u0301\",\"b\",\"é\"]"},
		{"numbers by size", ports, `[10,9,-1,10]`, `[-1,9,10]`},
		{"durations by size", spans, `["1h","90s","1m30s"]`, `["1m30s","1h0m0s"]`},
		{"an empty set", labels, `[ ]`, `[]`},
		{"keys by their bytes", seen, `{"b":1,"a\/":2,"B":3}`, `{"B":3,"a/":2,"b":1}`},
		{"records at keys", skills, `{"x":{"uses":1,"new":[ ],"target":{"port":1}}}`, `{"x":{"new":[ ],"target":{"port":1},"uses":1}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := test.f.Normalize([]byte(test.raw))
			if string(got) != test.want || err != nil {
				t.Errorf("got %s, %v, want %s", got, err, test.want)
			}
			again, err := test.f.Normalize(got)
			if string(again) != test.want || err != nil {
				t.Errorf("a second time: %s, %v", again, err)
			}
		})
	}
}

func TestNormalizeNamesThePartThatDoesNotFit(t *testing.T) {
	many := "[" + strings.Repeat("0,", MaxElements) + "0]"
	for _, test := range []struct {
		f         Field
		raw, says string
	}{
		{target, `[]`, "want an object"},
		{target, `null`, "want an object"},
		{target, `{"port":null}`, "member port: want an integer"},
		{target, `{"port":1,"port":2}`, "duplicate"},
		{target, `{"port":1} x`, "more follows"},
		{target, `{"port":1`, "not valid JSON"},
		{hosts, `[{"port":1},{"port":"2"}]`, "element 1: member port: want an integer"},
		{hosts, `{}`, "want a list"},
		{hosts, `[{},]`, "not valid JSON"},
		{Field{Type: TypeList}, `[]`, "have no elements"},
		{labels, `["a",null]`, "element 1: want a string"},
		{labels, `"a"`, "want a list"},
		{ports, many, "more than the 16384 elements"},
		{seen, `{"":1}`, "cannot be empty"},
		{seen, `{"a":"1"}`, `key "a": want an integer`},
		{seen, `{"a\n":1}`, "control character"},
		{seen, `{"` + strings.Repeat("k", MaxKey+1) + `":1}`, "257 bytes"},
		{skills, `{"a":1}`, `key "a": want an object`},
		{skills, `{"a":{"uses":-1}}`, `key "a": member uses: want an integer`},
		{Field{Type: TypeJSON}, strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1), "deeper than the 48 allowed"},
	} {
		if _, err := test.f.Normalize([]byte(test.raw)); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%.40s: got %v, want %q", test.raw, err, test.says)
		}
	}
}

func TestParseTakesJSONForWhatHasParts(t *testing.T) {
	for text, f := range map[string]Field{`{"host":"a"}`: target, `["a","b"]`: labels, `[{"port":1}]`: hosts, `{"a":1}`: seen, `null`: {Type: TypeJSON}} {
		raw, err := f.Parse(text)
		if string(raw) != text || err != nil {
			t.Errorf("Parse(%s) is %s, %v", text, raw, err)
		}
		if got := f.Text(raw); got != text {
			t.Errorf("Text of %s is %s", raw, got)
		}
	}
	element, _ := labels.Element()
	if raw, err := element.Parse("a b"); string(raw) != `"a b"` || err != nil {
		t.Errorf("an element: %s, %v", raw, err)
	}
}

func TestUndeclaredFindsWhatIsMisspelt(t *testing.T) {
	for _, test := range []struct {
		f         Field
		raw, want string
	}{
		{target, `{"host":"a"}`, ""},
		{target, `{"more":{"anything":1}}`, ""},
		{target, `{"host":"a","zone":1}`, "/zone"},
		{hosts, `[{"host":"a"},{"a/b":1}]`, "/1/a~1b"},
		{nested, `{"target":{"hots":1}}`, "/target/hots"},
		{labels, `["a"]`, ""},
		{Field{Type: TypeUint}, `1`, ""},
	} {
		got, ok := test.f.Undeclared([]byte(test.raw))
		if string(got) != test.want || ok != (test.want != "") {
			t.Errorf("%s: got %q, %v, want %q", test.raw, got, ok, test.want)
		}
	}
}

// What a program does not know stays, wherever it stands in a record.
func TestKeepTakesOverWhatIsNotDeclared(t *testing.T) {
	for _, test := range []struct {
		f                Field
		old, value, want string
	}{
		{target, `{"host":"a","zone":1}`, `{"port":2}`, `{"port":2,"zone":1}`},
		{target, `{"zone":1}`, `{"zone":2}`, `{"zone":1}`}, // the value was read earlier
		{nested, `{"target":{"host":"a","zone":1},"x":0}`, `{"target":{"port":2}}`, `{"target":{"port":2,"zone":1},"x":0}`},
		{nested, `{"target":{"zone":1}}`, `{}`, `{}`},
		{hosts, `[{"zone":1}]`, `[{}]`, `[{}]`}, // a list is what it is
		{target, ``, `{"port":2}`, `{"port":2}`},
	} {
		var old []byte
		if test.old != "" {
			old = []byte(test.old)
		}
		if got := test.f.Keep(old, []byte(test.value)); string(got) != test.want {
			t.Errorf("%s over %s: got %s, want %s", test.value, test.old, got, test.want)
		}
	}
}

// With, Without and Value are those of a map that remembers an order.
func TestObjectsAreMapsInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"a", "b", "é", "a/b", "", "\"", "\u2028"})
		o, want := Object(nil), map[string]string{}
		for i := range rapid.IntRange(0, 12).Draw(t, "changes") {
			n := name.Draw(t, "name")
			if rapid.Bool().Draw(t, "take out") {
				o = o.Without(n)
				delete(want, n)
				continue
			}
			o = o.With(n, fmt.Append(nil, i))
			want[n] = fmt.Sprint(i)
		}
		again, err := ParseObject(o.Append(nil))
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for i, m := range again {
			got[m.Name] = string(m.Value)
			if i > 0 && again[i-1].Name >= m.Name {
				t.Errorf("%q stands before %q", again[i-1].Name, m.Name)
			}
			if v, ok := o.Value(m.Name); !ok || string(v) != want[m.Name] {
				t.Errorf("Value(%q) is %s, %v", m.Name, v, ok)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("members (-want +got):\n%s", diff)
		}
	})
}

func TestMergeDescends(t *testing.T) {
	part := func(members map[string]Field, keys bool) Field { return Field{Kind: Map, Keys: keys, Record: members} }
	there := &Declaration{State: "x", Owners: map[string]Owner{
		"a": {Fields: map[string]Field{
			"target": {Type: TypeRecord, Fields: map[string]Field{"host": {Type: TypeString}, "mood": {Type: TypeEnum, Values: []string{"good"}}}},
			"list":   {Type: TypeList, Of: &Field{Type: TypeRecord, Fields: map[string]Field{"a": {Type: TypeInt}}}},
			"seen":   {Kind: Map, Keys: true, Value: &Field{Type: TypeEnum, Values: []string{"x"}}},
			"skills": part(map[string]Field{"by": {Type: TypeString}}, true),
		}},
	}}
	here := &Declaration{State: "x", Owners: map[string]Owner{
		"a": {Fields: map[string]Field{
			"target": {Type: TypeRecord, Fields: map[string]Field{"port": {Type: TypeUint}, "mood": {Type: TypeEnum, Values: []string{"bad"}}}},
			"list":   {Type: TypeList, Of: &Field{Type: TypeRecord, Fields: map[string]Field{"b": {Type: TypeInt}}}},
			"seen":   {Kind: Map, Keys: true, Value: &Field{Type: TypeEnum, Values: []string{"y"}}},
			"skills": part(map[string]Field{"at": {Type: TypeTime}}, true),
		}},
		"b": {Fields: map[string]Field{"skills": part(map[string]Field{"uses": {Type: TypeUint}}, false)}},
	}}
	merged, more, err := there.Merge(here)
	if err != nil || !more {
		t.Fatalf("more is %v (%v)", more, err)
	}
	want := map[string]Field{
		"target": {Type: TypeRecord, Fields: map[string]Field{"host": {Type: TypeString}, "port": {Type: TypeUint}, "mood": {Type: TypeEnum, Values: []string{"good", "bad"}}}},
		"list":   {Type: TypeList, Of: &Field{Type: TypeRecord, Fields: map[string]Field{"a": {Type: TypeInt}, "b": {Type: TypeInt}}}},
		"seen":   {Kind: Map, Keys: true, Value: &Field{Type: TypeEnum, Values: []string{"x", "y"}}},
		"skills": part(map[string]Field{"by": {Type: TypeString}, "at": {Type: TypeTime}}, true),
	}
	if diff := cmp.Diff(want, merged.Owners["a"].Fields); diff != "" {
		t.Errorf("merged (-want +got):\n%s", diff)
	}
	if len(there.Owners["a"].Fields["target"].Fields) != 2 || len(there.Owners["a"].Fields["seen"].Value.Values) != 1 {
		t.Error("Merge changed its receiver")
	}
	joined, _ := merged.Joined("skills")
	if diff := cmp.Diff([]string{"at", "by", "uses"}, joined.MemberNames()); diff != "" {
		t.Errorf("the joined map (-want +got):\n%s", diff)
	}
	if again, more, err := merged.Merge(here); more || err != nil || cmp.Diff(merged, again) != "" {
		t.Errorf("a second time: more is %v (%v)", more, err)
	}
}

func TestMergeFindsContradictionsInParts(t *testing.T) {
	there := func() *Declaration {
		return &Declaration{State: "x", Owners: map[string]Owner{
			"a": {Fields: map[string]Field{"target": target, "hosts": hosts, "seen": seen, "skills": {Kind: Map, Keys: true, Record: map[string]Field{"by": {Type: TypeString}}}}},
			"b": {Fields: map[string]Field{"skills": {Kind: Map, Record: map[string]Field{"uses": {Type: TypeUint, Kind: Counter}}}}},
		}}
	}
	for says, change := range map[string]func(d *Declaration){
		"field target, member port is a value of type uint there and a value of type string here": func(d *Declaration) {
			d.Owners["a"].Fields["target"] = Field{Type: TypeRecord, Fields: map[string]Field{"port": {Type: TypeString}}}
		},
		"the elements of field hosts is a value of type record there and a value of type string here": func(d *Declaration) {
			d.Owners["a"].Fields["hosts"] = Field{Type: TypeList, Of: &Field{Type: TypeString}}
		},
		"the value of field seen is a max of type uint there and a min of type uint here": func(d *Declaration) {
			d.Owners["a"].Fields["seen"] = Field{Kind: Map, Value: &Field{Type: TypeUint, Kind: Min}}
		},
		"field seen is a map of values there and a map of records here": func(d *Declaration) {
			d.Owners["a"].Fields["seen"] = Field{Kind: Map, Record: map[string]Field{"a": {Type: TypeUint}}}
		},
		"field skills, member uses is a counter of type uint there and a value of type uint here": func(d *Declaration) {
			d.Owners["b"].Fields["skills"] = Field{Kind: Map, Record: map[string]Field{"uses": {Type: TypeUint}}}
		},
		"owner a declares member uses of map skills already": func(d *Declaration) {
			d.Owners["a"].Fields["skills"] = Field{Kind: Map, Keys: true, Record: map[string]Field{"uses": {Type: TypeUint}}}
			delete(d.Owners, "b")
		},
		"owner a decides the keys of map skills there and owner b here": func(d *Declaration) {
			d.Owners["b"].Fields["skills"] = Field{Kind: Map, Keys: true}
			d.Owners["a"].Fields["skills"] = Field{Kind: Map}
		},
		"field seen belongs to owner a there and to b here": func(d *Declaration) {
			d.Owners["b"].Fields["seen"] = seen
			delete(d.Owners["a"].Fields, "seen")
		},
		"owner a decides the keys of map skills there and owner c here": func(d *Declaration) {
			d.Owners["c"] = Owner{Fields: map[string]Field{"skills": {Kind: Map, Keys: true}}}
			delete(d.Owners, "a")
		},
	} {
		built := there()
		change(built)
		if _, _, err := there().Merge(built); !errors.Is(err, ErrDeclaration) || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want %q", err, says)
		}
	}
}
