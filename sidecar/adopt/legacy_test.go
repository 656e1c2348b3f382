package adopt

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/sidecar/store"
)

// Cases 54, 57 to 59 and 90: text that is not one JSON object is refused at a byte,
// and is never taken for an empty object.
func TestTextThatIsNoObjectIsRefusedAtAByte(t *testing.T) {
	var report strings.Builder
	for _, tc := range []struct{ name, text string }{
		{"empty", ""},
		{"blank", " \n\t"},
		{"torn", `{"a":`},
		{"torn in a string", `{"a": "b`},
		{"an array", "[]"},
		{"null", "null"},
		{"a string", `"a"`},
		{"a number", "17"},
		{"a truth value", "true"},
		{"no JSON", "a = 1"},
		{"two documents", "{}\n{}"},
		{"a brace too many", "{}}"},
		{"a comma at the end", `{"a":1,}`},
		{"a name twice", `{"a":1,"b":{"c":1,"c":2}}`},
		{"a NUL at the end", "{}\x00"},
		{"NULs, as a crash leaves them", strings.Repeat("\x00", 64)},
		{"a byte order mark", "\xef\xbb\xbf{}"},
		{"UTF-16", "\xff\xfe{\x00}\x00"},
		{"UTF-16, the other way round", "\xfe\xff\x00{\x00}"},
		{"UTF-16 without a mark", "{\x00}\x00"},
		{"invalid UTF-8", "{\"a\":\"\xff\"}"},
		{"a lone surrogate", `{"a":"\ud800"}`},
		{"NaN", `{"a":NaN}`},
		{"a comment", "{} // why"},
		{"a comment inside", "{\n  // why\n  \"a\": 1}"},
		{"a comment of shells", "# why\n{}"},
		{"a comma before the end of a list", `{"a":[1,]}`},
		{"two commas", `{"a":1,,"b":2}`},
		{"minus infinity", `{"a":-Infinity}`},
		{"a truth value of Python", `{"a":True}`},
		{"nothing of Python", `{"a":None}`},
		{"a line feed in a text", "{\"a\":\"é two\nlines\"}"},
		{"a tab in a text", "{\"a\":\"two\twords\"}"},
		{"a merge conflict", "{\"a\":1,\n<<<<<<< HEAD\n\"b\":2}"},
		{"the other side of one", "{\"a\":1\n=======\n\"b\":2}"},
		{"a key without quotes", "{\n  a: 1}"},
		{"single quotes", `{'a': 1}`},
		{"NDJSON", "{\"a\":1}\n{\"a\":2}\n"},
		{"half a pair", `{"a":"\udc00 x"}`},
		{"too deep", `{"a":` + strings.Repeat("[", limits.Depth) + strings.Repeat("]", limits.Depth) + "}"},
		{"too many values", `{"a":[` + strings.Repeat("0,", limits.Values) + "0]}"},
		{"too long a text", `{"a":"` + strings.Repeat("x", limits.Text) + `"}`},
		{"a sidecar", `{"$sidecar":{"format":1},"f":1}`},
		{"a name in a terminal's language twice", "{\"\\u001b[2J\":1,\"\\u001b[2J\":2}"},
	} {
		l, err := Parse("runtime.json", []byte(tc.text))
		if l != nil || !errors.Is(err, store.Invalid) {
			t.Errorf("%s: got %v (%v)", tc.name, l, err)
			continue
		}
		fmt.Fprintf(&report, "%s: %v\n", tc.name, err)
	}
	golden(t, "legacy_errors.txt", report.String())
}

func TestWhiteSpaceAroundTheObjectIsNothing(t *testing.T) {
	for _, text := range []string{"{}", " {} ", "\n{ }\n\n  \t", "{}\r\n"} {
		if _, err := Parse("runtime.json", []byte(text)); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Case 51: keys are compared byte by byte.
func TestKeysThatDifferInCaseAreUnowned(t *testing.T) {
	p := planned(t, flat(), `{"Ticks": 9, "tic\u212as": 1, "tick\u017f": 2}`)
	if len(p.parts) > 0 {
		t.Errorf("taken: %+v", p.parts)
	}
	want := []Place{{Pointer: "/Ticks", Like: "ticks", Field: "ticks"}, {Pointer: "/tic\u212as", Like: "ticks"}, {Pointer: "/tick\u017f", Like: "ticks"}}
	if fmt.Sprint(p.Unowned) != fmt.Sprint(want) {
		t.Errorf("unowned %v, want %v", p.Unowned, want)
	}
}
