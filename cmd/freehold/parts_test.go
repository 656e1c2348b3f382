package main

import (
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/schema"
)

// Keys, elements and JSON come from strangers, and may be of any length.
func TestWhatHasPartsIsToldInOneShortHarmlessLine(t *testing.T) {
	long := strings.Repeat("k", 200)
	text := schema.Field{Type: schema.TypeString}
	set := schema.Field{Kind: schema.Set, Type: schema.TypeString}
	plain := schema.Field{Kind: schema.Map, Value: &text}
	for _, test := range []struct {
		field     schema.Field
		raw, want string
	}{
		{set, `[]`, "no elements"},
		{set, `["a b"]`, "1 element: a b"},
		{set, `["\u001b[2J","\u202e"]`, `2 elements: "\x1b[2J", "\u202e"`},
		{set, `["1","2","3","4","5"]`, "5 elements: 1, 2, 3, 4, …"},
		{plain, `{}`, "no keys"},
		{plain, `{"a\"b c":"x","d":"y"}`, `2 keys: "a\"b c", d`},
		{plain, `{"` + long + `":"x"}`, "1 key: " + long[:clipped-8] + "…"},
		{schema.Field{Type: schema.TypeJSON}, `"true"`, `"true"`},
		{schema.Field{Type: schema.TypeJSON}, "\"\u202e\"", `"\u202e"`},
		{schema.Field{Type: schema.TypeJSON}, `"` + long + `"`, `"` + long[:clipped-2] + "…"},
	} {
		if got := shownValue(test.field, []byte(test.raw)); got != test.want {
			t.Errorf("%s is shown as %s, want %s", test.raw, got, test.want)
		}
	}
}

// What get prints of a value with parts, set takes.
func TestWhatGetPrintsOfJSONSetTakes(t *testing.T) {
	f := schema.Field{Type: schema.TypeJSON}
	for _, raw := range []string{`"abc"`, `null`, `[1,"\ud83d\ude00"]`, "\"\u202e \U000e0041\"", `{"a":{}}`} {
		for eyes, want := range map[bool]string{false: raw, true: string(visibleJSON([]byte(raw)))} {
			back, err := f.Parse(typed(f, []byte(raw), eyes))
			if err != nil || string(back) != want {
				t.Errorf("%s comes back as %s (%v), want %s", raw, back, err, want)
			}
		}
	}
}
