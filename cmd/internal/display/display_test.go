package display

import (
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/schema"
	"github.com/go-json-experiment/json"
)

// Threat T13: nothing that a terminal obeys is ever written as it is.
func TestNothingActsOnATerminal(t *testing.T) {
	for _, test := range []struct{ name, text, visible, shown string }{
		{"plain", "pane-frozen", "pane-frozen", "pane-frozen"},
		{"other scripts", "größe 漢字 עברית", "größe 漢字 עברית", "größe 漢字 עברית"},
		{"emoji with a joiner", "👩\u200d💻", "👩\u200d💻", "👩\u200d💻"},
		{"escape", "a\x1b[2Jb", `a\x1b[2Jb`, `"a\x1b[2Jb"`},
		{"C1 control", "a\u009b2Jb", `a\u009b2Jb`, `"a\u009b2Jb"`},
		{"carriage return", "a\rb", `a\rb`, `"a\rb"`},
		{"line feed", "a\nfreehold: error: x", `a\nfreehold: error: x`, `"a\nfreehold: error: x"`},
		{"direction", "a\u202eb", `a\u202eb`, `"a\u202eb"`},
		{"isolate", "a\u2066b", `a\u2066b`, `"a\u2066b"`},
		{"zero width", "a\u200bb", `a\u200bb`, `"a\u200bb"`},
		{"byte order mark", "\ufeffa", `\ufeffa`, `"\ufeffa"`},
		{"line separator", "a\u2028b", `a\u2028b`, `"a\u2028b"`},
		{"delete", "a\x7fb", `a\x7fb`, `"a\x7fb"`},
		{"tag", "a\U000e0041b", `a\U000e0041b`, `"a\U000e0041b"`},
		{"invalid UTF-8", "a\xffb", `a\xffb`, `"a\xffb"`},
		{"replacement character", "a\ufffdb", "a\ufffdb", "a\ufffdb"},
		{"empty", "", "", `""`},
		{"blanks at the ends", " a ", " a ", `" a "`},
		{"quotes", `"a"`, `"a"`, `"\"a\""`},
		{"the word unset", "unset", "unset", `"unset"`},
		{"backslash", `C:\new`, `C:\new`, `C:\new`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := Escape(test.text); got != test.visible {
				t.Errorf("visible: %q, want %q", got, test.visible)
			}
			if got := Text(test.text); got != test.shown {
				t.Errorf("shown: %q, want %q", got, test.shown)
			}
		})
	}
}

func TestEscapedJSONMeansTheSame(t *testing.T) {
	for _, text := range []string{"plain", "a\x1b[2J\u202e\u009b\x7f\u2028\ufeff", "👩\u200d💻 \U000e0041 \U0001f600", "größe\ufffd\t\n"} {
		raw, err := json.Marshal(map[string]string{"k": text})
		if err != nil {
			t.Fatal(err)
		}
		escaped := EscapeJSON(raw)
		if again := Escape(string(escaped)); again != string(escaped) {
			t.Errorf("%q still acts on a terminal", escaped)
		}
		var back map[string]string
		if err := json.Unmarshal(escaped, &back); err != nil || back["k"] != text {
			t.Errorf("%s means %q (%v), want %q", escaped, back["k"], err, text)
		}
	}
}

// Keys, elements and JSON come from strangers, and may be of any length.
func TestAValueWithPartsIsOneShortHarmlessLine(t *testing.T) {
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
		if got := Value(test.field, []byte(test.raw)); got != test.want {
			t.Errorf("%s is shown as %s, want %s", test.raw, got, test.want)
		}
	}
}

// The text that get prints of a value with parts is one that set takes.
func TestSetTakesTheJSONThatGetPrints(t *testing.T) {
	f := schema.Field{Type: schema.TypeJSON}
	for _, raw := range []string{`"abc"`, `null`, `[1,"\ud83d\ude00"]`, "\"\u202e \U000e0041\"", `{"a":{}}`} {
		for terminal, want := range map[bool]string{false: raw, true: string(EscapeJSON([]byte(raw)))} {
			back, err := f.Parse(Plain(f, []byte(raw), terminal))
			if err != nil || string(back) != want {
				t.Errorf("%s comes back as %s (%v), want %s", raw, back, err, want)
			}
		}
	}
}
