package main

import (
	"testing"

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
			if got := visible(test.text); got != test.visible {
				t.Errorf("visible: %q, want %q", got, test.visible)
			}
			if got := shown(test.text); got != test.shown {
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
		escaped := visibleJSON(raw)
		if again := visible(string(escaped)); again != string(escaped) {
			t.Errorf("%q still acts on a terminal", escaped)
		}
		var back map[string]string
		if err := json.Unmarshal(escaped, &back); err != nil || back["k"] != text {
			t.Errorf("%s means %q (%v), want %q", escaped, back["k"], err, text)
		}
	}
}
