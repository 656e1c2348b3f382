package declare_test

import (
	"strings"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/schema/declare"
	"github.com/google/go-cmp/cmp"
)

const tiny = "state: runtime\nowners: {a: {fields: {x: {type: bool}}}}\n"

// TestTextThatLooksOtherwiseThanItReads is about bytes that a golden file could
// not hold, or that an editor would change.
func TestTextThatLooksOtherwiseThanItReads(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"plain", tiny, ""},
		{"carriage returns", strings.ReplaceAll(tiny, "\n", "\r\n"), ""},
		{"no last line end", strings.TrimSuffix(tiny, "\n"), ""},
		{"tab between key and value", "state:\truntime\nowners: {a: {fields: {x: {type: bool}}}}", ""},
		{"emoji in a doc", `owners: {a: {doc: "👩‍💻 at work", fields: {x: {type: bool}}}}` + "\nstate: runtime", ""},
		{"empty", "", "owners.yaml:1:1: the file declares nothing: freehold init writes a first one\n"},
		{"byte order mark", "\ufeff" + tiny, "owners.yaml:1:1: the file begins with a byte order mark: save it as UTF-8 without one\n"},
		{"byte order mark inside", "state: \ufeffruntime", "owners.yaml:1:8: the character U+FEFF may not stand in YAML: remove it\n"},
		{"UTF-16", "\xff\xfes\x00t\x00", "owners.yaml:1:1: the file is UTF-16: save it as UTF-8\n"},
		{"Latin-1", "state: runtime\n# caf\xe9\n# \xe9\n", "owners.yaml:2:6: the byte 0xe9 is not UTF-8: save the file as UTF-8\n" +
			"owners.yaml:3:3: the byte 0xe9 is not UTF-8: save the file as UTF-8\n"},
		{"columns are characters", "# é👍\x01", "owners.yaml:1:5: the character U+0001 may not stand in YAML: remove it\n"},
		{"nul", "state: a\x00", "owners.yaml:1:9: the character U+0000 may not stand in YAML: remove it\n"},
		{"escape", "state: \x1b[31m", "owners.yaml:1:8: the character U+001B may not stand in YAML: remove it\n"},
		{"lone carriage return", "state: a\rowners: b\n", "owners.yaml:1:9: a carriage return stands alone: end lines with a line feed, or with both\n"},
		{"line separator", "state: a # \u2028owners: b", "owners.yaml:1:12: the character U+2028 ends a line for YAML but not for an editor: remove it\n"},
		{"next line", "# \u0085", "owners.yaml:1:3: the character U+0085 ends a line for YAML but not for an editor: remove it\n"},
		{"huge", tiny + strings.Repeat("#", declare.MaxSize), "owners.yaml:1:1: the file has 262200 bytes and may have 262144: declare less, or several states\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, report(t, test.text)); diff != "" {
				t.Errorf("Parse (-want +got):\n%s", diff)
			}
		})
	}
}

// TestHostileFilesEndSoon holds that no file, within the size allowed, keeps
// Parse busy or takes its stack.
func TestHostileFilesEndSoon(t *testing.T) {
	for _, test := range []struct{ name, unit, end string }{
		{"open brackets", "[", ""},
		{"closed brackets", "[", "]"},
		{"open braces", "{a: ", ""},
		{"sequences", "- ", ""},
		{"complex keys", "? ", ""},
		{"colons", "a: ", ""},
		{"quotes", "a: \"\n", ""},
		{"broken lines", "a: {\n", ""},
		{"unknown keys", "a%: 1\n", ""},
		{"anchors", "&a ", ""},
		{"comments", "- # x\n", ""},
		{"documents", "---\n", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			const room = declare.MaxSize - 100
			n := room / (len(test.unit) + len(test.end))
			start := time.Now()
			if got := report(t, strings.Repeat(test.unit, n)+strings.Repeat(test.end, n)); got == "" {
				t.Error("no problem was reported")
			}
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("Parse took %v", took)
			}
		})
	}
}

// TestTextsHaveALength that a comment and a line of a table can hold.
func TestTextsHaveALength(t *testing.T) {
	long, longer := strings.Repeat("é", 2000), strings.Repeat("é", 2001)
	with := func(doc, unit string) string {
		return "state: s\nowners: {a: {doc: " + doc + ", fields: {x: {type: int, unit: " + unit + "}}}}\n"
	}
	if got := report(t, with(long, strings.Repeat("u", 100))); got != "" {
		t.Error(got)
	}
	want := "owners.yaml:2:19: the doc of owner a is longer than 2000 characters: write less\n" +
		"owners.yaml:2:2052: the unit of field x is longer than 100 characters: write less\n"
	if diff := cmp.Diff(want, report(t, with(longer, strings.Repeat("u", 101)))); diff != "" {
		t.Errorf("Parse (-want +got):\n%s", diff)
	}
	values := strings.Repeat("a, ", 257)
	if got := report(t, "state: s\nowners: {a: {fields: {x: {type: enum, values: ["+values+"]}}}}"); !strings.Contains(got, "has 257 values and may have 256: use type string") {
		t.Error(got)
	}
}
